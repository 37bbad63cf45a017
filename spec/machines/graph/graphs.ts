import fc from 'fast-check';

/** Graphs as people write them, for the specs of their reader. */
export const noop = (id: string, more: object = {}) => ({
  id,
  type: 'step',
  actor: { kind: 'noop' },
  ...more,
});
export const trigger = { id: 't', type: 'trigger' };

/** `chain('a', 'b')`: trigger → a → b. */
export function chain(...ids: readonly string[]) {
  const all = ['t', ...ids];
  return {
    title: 'Chain',
    nodes: [trigger, ...ids.map((id) => noop(id))] as object[],
    edges: ids.map((to, index) => ({ id: `e${index + 1}`, from: all[index], to })) as object[],
  };
}

/** Arbitrary JSON that has seen a definition: its members, words and ids, in all the wrong places. */
const words = [
  'nodes',
  'edges',
  'id',
  'type',
  'step',
  'trigger',
  'gate',
  'switch',
  'wait',
  'merge',
  'end',
  'fail',
  'actor',
  'kind',
  'employee',
  'http',
  'noop',
  'work-item',
  'workflow',
  'options',
  'retry',
  'loop',
  'when',
  'path',
  'op',
  'value',
  'eq',
  'exists',
  'contains',
  'steps.a.status',
  'steps.a.outcome.fields.x',
  'input.x',
  '__proto__',
  'constructor',
  'a',
  'b',
  't',
  'from',
  'to',
  'lane',
  'error',
  'title',
  'output',
  'properties',
  'waitMinutes',
  'waitUntil',
  'gates',
  'maxRounds',
  'position',
  'x',
  'fields',
  '{{input.x}}',
  '{{steps.q.status}}',
];
export const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...words) },
  fc.string({ maxLength: 12 }),
);
const scalar = fc.oneof(word, fc.double(), fc.integer(), fc.boolean(), fc.constant(null));
export const { wild } = fc.letrec((tie) => ({
  wild: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    scalar,
    fc.array(tie('wild'), { maxLength: 5 }),
    fc.dictionary(word, tie('wild'), { maxKeys: 7 }),
  ),
})) as { wild: fc.Arbitrary<unknown> };

const ids = ['t', 'a', 'b', 'c', 'd', 'e'];
const condition = fc.record(
  {
    path: fc.oneof(
      fc.constantFrom(
        'steps.a.status',
        'steps.b.outcome.fields.ok',
        'run.rounds',
        'trigger.payload.n',
        'input.x',
      ),
      word,
    ),
    op: fc.oneof(fc.constantFrom('eq', 'ne', 'gt', 'exists', 'absent', 'contains', 'startsWith'), word),
    value: scalar,
  },
  { requiredKeys: ['path', 'op'] },
);
const node = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...ids.slice(1)).map((id) => noop(id)) },
  fc.record(
    {
      id: fc.constantFrom(...ids),
      type: fc.constantFrom('trigger', 'step', 'gate', 'switch', 'fail', 'wait', 'merge', 'end'),
      actor: wild,
      gate: wild,
      options: wild,
      waitMinutes: scalar,
      output: wild,
      position: wild,
    },
    { requiredKeys: ['id', 'type'] },
  ),
);
const edge = fc.record(
  {
    id: word,
    from: fc.constantFrom(...ids),
    to: fc.constantFrom(...ids),
    kind: fc.constantFrom('sequence', 'handoff', 'loop'),
    lane: fc.constantFrom(null, 'error'),
    when: fc.array(condition, { maxLength: 3 }),
    maxRounds: fc.oneof(fc.constant(2), scalar),
  },
  { requiredKeys: ['from', 'to'] },
);

/** Graphs that are nearly right. */
export const likely = fc.record(
  {
    title: fc.oneof(fc.constant('Some title'), word),
    id: word,
    name: word,
    nodes: fc.array(node, { maxLength: 8 }),
    edges: fc.array(edge, { maxLength: 10 }),
    loop: wild,
    runGates: wild,
    concurrency: scalar,
    input: wild,
    runners: wild,
    status: word,
  },
  { requiredKeys: ['title', 'nodes', 'edges'] },
);

/**
 * Whole graphs of all kinds of passages, most of them without a fault. Edges lead to later nodes; every node
 * but the first has a way in.
 */
export const graph = fc
  .array(
    fc.record({
      type: fc.constantFrom('step', 'step', 'step', 'switch', 'merge', 'gate', 'wait', 'end', 'fail'),
      from: fc.array(fc.nat(20), { minLength: 1, maxLength: 3 }),
      bare: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((wishes) => {
    const nodes: Record<string, unknown>[] = [{ ...trigger }];
    const edges: Record<string, unknown>[] = [];
    wishes.forEach(({ type, from, bare }, index) => {
      const id = `n${index + 1}`;
      const made = {
        id,
        type,
        ...(type === 'step'
          ? { actor: { kind: 'noop' } }
          : type === 'gate'
            ? { gate: { kind: 'approval' } }
            : type === 'wait'
              ? { waitMinutes: 1 }
              : {}),
      };
      for (const source of new Set(from.map((n) => n % nodes.length))) {
        const { id: before, type: kind } = nodes[source] as { id: string; type: string };
        if (kind === 'end' || kind === 'fail') continue;
        edges.push({
          id: `e${edges.length + 1}`,
          from: before,
          to: id,
          ...(bare || kind !== 'switch' ? {} : { when: [{ path: 'input.x', op: 'eq', value: index }] }),
        });
      }
      nodes.push(made);
    });
    return { title: 'Random', nodes, edges };
  });
