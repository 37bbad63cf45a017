import { expect } from 'chai';
import fc from 'fast-check';
import { parseDefinition } from '../../../machines/graph/read-definition.js';
import { chain, graph, likely, noop, trigger, wild } from './graphs.js';

const faultsOf = (definition: unknown) =>
  parseDefinition(definition).faults.map(({ code, ref }) => (ref === undefined ? code : `${code} ${ref}`));
/** trigger → a → b, with something changed. */
const withNode = (node: object, edges: readonly object[] = []) => {
  const base = chain('a', 'b');
  return { ...base, nodes: [...base.nodes, node], edges: [...base.edges, ...edges] };
};
const edge = (from: string, to: string, more: object = {}) => ({ id: `${from}-${to}`, from, to, ...more });
const eq = (value: unknown) => [{ path: 'input.x', op: 'eq', value }];

describe('parseDefinition', () => {
  it('fills in every default, and reads what it made without a change', () => {
    const { definition, faults } = parseDefinition({ ...chain('a', 'b'), title: 'Morning digest!' });
    expect(faults).to.deep.equal([]);
    expect(definition).to.include({
      id: 'morning-digest',
      name: 'morning-digest',
      concurrency: 1,
      status: 'active',
      owner: null,
    });
    expect(parseDefinition(definition).definition).to.deep.equal(definition);
  });

  it('puts a manual trigger before a graph that has none', () => {
    const { definition, faults, diagnostics } = parseDefinition({
      title: 'x',
      nodes: [noop('a'), noop('b')],
      edges: [edge('a', 'b')],
    });
    expect(faults).to.deep.equal([]);
    expect(definition.edges.map(({ from, to }) => `${from} ${to}`)).to.deep.equal(['trigger a', 'a b']);
    expect(diagnostics[0]).to.include({ code: 'trigger-added', ref: 'trigger' });
  });

  it('keeps positions that an author wants kept, and makes others', () => {
    const nodes = [{ ...trigger, position: { x: 7, y: 9 } }, noop('a', { position: { x: 3, y: 3 } })];
    const written = { title: 'x', nodes, edges: [edge('t', 'a')] };
    expect(
      parseDefinition({ ...written, layout: { source: 'manual' } }).definition.nodes[0]?.position,
    ).to.deep.equal({ x: 7, y: 9 });
    expect(parseDefinition(written).definition.nodes[1]?.position).to.deep.equal({ x: 260, y: 0 });
    expect(parseDefinition(written).diagnostics[0]).to.include({ code: 'nodes-moved' });
  });

  describe('finds', () => {
    const wrong: readonly [what: string, definition: unknown, ...faults: string[]][] = [
      ['no object', [], 'bad-field', 'missing-title title', 'no-nodes nodes'],
      ['a member that no definition has', { ...chain('a'), color: 1 }, 'unknown-field color'],
      ['another schema', { ...chain('a'), schemaVersion: 2 }, 'bad-schema-version schemaVersion'],
      ['a status that there is not', { ...chain('a'), status: 'asleep' }, 'bad-status status'],
      ['a name with blanks', { ...chain('a'), name: 'Two words' }, 'bad-name name'],
      ['an id of the language', withNode(noop('__proto__'), [edge('b', '__proto__')]), 'bad-id __proto__'],
      ['too many at once', { ...chain('a'), concurrency: 9 }, 'bad-concurrency concurrency'],
      ['a node twice', withNode(noop('a')), 'duplicate-node a'],
      ['an edge twice', withNode(noop('c'), [{ ...edge('b', 'c'), id: 'e1' }]), 'duplicate-edge e1'],
      ['a second trigger', withNode({ id: 'u', type: 'trigger' }), 'many-triggers u', 'dead-end u'],
      [
        'a way into the trigger',
        withNode(noop('c'), [edge('b', 'c'), edge('c', 't')]),
        'edge-into-trigger c-t',
        'non-loop-cycle t',
      ],
      [
        'a way out of the end',
        withNode({ id: 'z', type: 'end' }, [edge('b', 'z'), edge('z', 'a', { kind: 'loop', maxRounds: 1 })]),
        'edge-out-of-end z-a',
      ],
      [
        'an edge to nowhere',
        withNode(noop('c'), [edge('b', 'c'), edge('c', 'gone')]),
        'dangling-edge c-gone',
      ],
      ['a node that nothing leads to', withNode(noop('c')), 'unreachable-node c'],
      [
        'a circle',
        { ...chain('a', 'b'), edges: [...chain('a', 'b').edges, edge('b', 'a')] },
        'non-loop-cycle a',
      ],
      [
        'a step that waits for itself',
        { ...chain('a'), edges: [...chain('a').edges, edge('a', 'a')] },
        'self-edge a-a',
      ],
      [
        'a loop without a ceiling, by its node',
        { ...chain('a', 'b'), edges: [...chain('a', 'b').edges, edge('b', 'a', { kind: 'loop' })] },
        'loop-without-ceiling b',
      ],
      [
        'a loop that leads forward',
        {
          ...chain('a', 'b'),
          edges: [...chain('a', 'b').edges, edge('a', 'b', { kind: 'loop', maxRounds: 2 })],
        },
        'loop-not-back a-b',
      ],
      [
        'a switch that may match nothing',
        {
          ...chain('a', 's', 'c'),
          nodes: [trigger, noop('a'), { id: 's', type: 'switch' }, noop('c')],
          edges: [edge('t', 'a'), edge('a', 's'), edge('s', 'c', { when: eq(1) })],
        },
        'switch-without-default s',
      ],
      ['a switch without a way', withNode({ id: 's', type: 'switch' }, [edge('b', 's')]), 'dead-end s'],
      [
        'a switch whose only free way leads back',
        withNode({ id: 's', type: 'switch' }, [
          edge('b', 's'),
          edge('s', 'a', { kind: 'loop', maxRounds: 2 }),
        ]),
        'dead-end s',
      ],
      [
        'a merge of one',
        {
          ...withNode({ id: 'm', type: 'merge' }, [edge('b', 'm'), edge('m', 'c')]),
          nodes: [...chain('a', 'b').nodes, { id: 'm', type: 'merge' }, noop('c')],
        },
        'merge-of-one m',
      ],
      [
        'a wait that nothing ends',
        withNode({ id: 'w', type: 'wait' }, [edge('b', 'w'), edge('w', 'b', { kind: 'loop', maxRounds: 1 })]),
        'bad-wait w',
        'dead-end w',
      ],
      [
        'a wait that two things end',
        {
          ...chain('w', 'b'),
          nodes: [
            trigger,
            { id: 'w', type: 'wait', waitMinutes: 1, waitUntil: '2030-01-01T00:00:00Z' },
            noop('b'),
          ],
        },
        'bad-wait w',
      ],
      [
        'a gate that nobody can open',
        {
          title: 'x',
          nodes: [trigger, { id: 'g', type: 'gate', gate: { kind: 'flag', flag: 'ok' } }, noop('a')],
          edges: [edge('t', 'g'), edge('g', 'a')],
        },
        'gate-never-opens g',
      ],
      [
        'a gate before a step that nobody can open',
        {
          ...chain('a', 'b'),
          nodes: [
            trigger,
            noop('a', { gates: [{ id: 'g', kind: 'flag', flag: 'ok' }] }),
            noop('b', { gates: [{ id: 'h', kind: 'flag', flag: 'ok' }] }),
          ],
        },
        'gate-never-opens a',
      ],
      [
        'a gate of the whole run that nobody can open',
        { ...chain('a'), runGates: [{ id: 'g', kind: 'artifact', glob: '*.md' }] },
        'gate-never-opens g',
      ],
      [
        'a gate without its glob',
        withNode({ id: 'g', type: 'gate', gate: { kind: 'artifact' } }, [edge('b', 'g')]),
        'gate-missing-field g',
      ],
      [
        'an error edge that is not there',
        withNode(noop('c', { options: { onError: 'error-edge' } }), [edge('b', 'c')]),
        'error-edge-missing-lane c',
      ],
      [
        'an error edge that is never taken',
        withNode(noop('c'), [edge('b', 'c', { lane: 'error' })]),
        'error-edge-unused b-c',
      ],
      [
        'an error edge of what cannot fail',
        withNode(noop('c'), [edge('b', 'c'), edge('t', 'c', { lane: 'error' })]),
        'error-edge-source t-c',
      ],
      [
        'a hand over of nothing',
        withNode(noop('c'), [edge('b', 'c'), edge('t', 'c', { kind: 'handoff' })]),
        'handoff-without-step t-c',
      ],
      [
        'a step without an actor',
        withNode({ id: 'c', type: 'step' }, [edge('b', 'c')]),
        'step-missing-actor c',
      ],
      [
        'an actor of no kind',
        withNode(noop('c', { actor: { kind: 'ghost' } }), [edge('b', 'c')]),
        'bad-actor-kind c',
      ],
      [
        'an address of no web',
        withNode(noop('c', { actor: { kind: 'http', url: 'file:///etc/passwd' } }), [edge('b', 'c')]),
        'bad-url c',
      ],
      [
        'a work item without its title',
        withNode(noop('c', { actor: { kind: 'work-item', operation: 'create' } }), [edge('b', 'c')]),
        'actor-missing-field c',
      ],
      [
        'a workflow that runs itself',
        {
          ...withNode(noop('c', { actor: { kind: 'workflow', workflowId: 'me' } }), [edge('b', 'c')]),
          id: 'me',
        },
        'self-call c',
      ],
      [
        'an existing session without its id',
        withNode(noop('c', { options: { session: { mode: 'existing' } } }), [edge('b', 'c')]),
        'session-missing-id c',
      ],
      [
        'a path to nobody in a text',
        withNode(noop('c', { instructions: 'Read {{steps.q.outcome.summary}} and {{this}}' }), [
          edge('b', 'c'),
        ]),
        'bad-template c',
      ],
      [
        'a result from nowhere',
        withNode({ id: 'z', type: 'end', result: { a: 'steps.zz.status', b: 'env.HOME' } }, [edge('b', 'z')]),
        'bad-result-path z',
        'bad-result-path z',
      ],
      [
        'a condition out of the grammar',
        withNode(noop('c'), [
          edge('b', 'c', {
            when: [
              { path: 'process.exit()', op: 'eq', value: 1 },
              { path: 'input.x', op: 'runs', value: 1 },
              { path: 'input.x', op: 'exists', value: 1 },
            ],
          }),
        ]),
        'bad-edge-condition b-c',
        'bad-edge-condition b-c',
        'bad-edge-condition b-c',
      ],
      [
        'a pattern that no engine decides in linear time',
        withNode(noop('c'), [
          edge('b', 'c', { when: [{ path: 'input.x', op: 'matches', value: '(a)\\1' }] }),
        ]),
        'bad-edge-condition b-c',
      ],
      [
        'a shape that would need a pattern',
        { ...chain('a'), input: { type: 'string', pattern: '(a+)+$' } },
        'bad-shape input',
      ],
      [
        'a schedule of six fields',
        {
          ...chain('a'),
          nodes: [
            { id: 't', type: 'trigger', trigger: { kind: 'schedule', cron: '* * * * * *' } },
            noop('a'),
          ],
        },
        'bad-schedule t',
      ],
      ...[
        '0 25 * * *',
        '60 * * * *',
        '* * 0 * *',
        '* * * 13 *',
        '* * * * 8',
        '5-1 * * * *',
        '*/0 * * * *',
        'x * * * *',
        '@daily',
      ].map((cron): [string, unknown, string] => [
        `the schedule ${cron}`,
        {
          ...chain('a'),
          nodes: [{ id: 't', type: 'trigger', trigger: { kind: 'schedule', cron } }, noop('a')],
        },
        'bad-schedule t',
      ]),
      [
        'a time zone of nowhere',
        {
          ...chain('a'),
          nodes: [
            {
              id: 't',
              type: 'trigger',
              trigger: { kind: 'schedule', cron: '0 9 * * 1-5', timezone: 'Mars/Base' },
            },
            noop('a'),
          ],
        },
        'bad-schedule t',
      ],
      [
        'more nodes than there may be',
        { title: 'x', nodes: Array.from({ length: 97 }, (_, n) => noop(`n${n}`)), edges: [] },
        'too-many-nodes nodes',
      ],
    ];
    for (const [what, definition, ...faults] of wrong)
      it(what, () =>
        expect(faultsOf(definition), JSON.stringify(parseDefinition(definition).faults)).to.deep.equal(
          faults,
        ),
      );
  });

  it('accepts schedules as people write them', () => {
    for (const cron of ['0 9 * * 1-5', '*/15 0,12 1-31/2 JAN-mar Mon,7', '59 23 31 12 0'])
      expect(
        faultsOf({
          ...chain('a'),
          nodes: [
            { id: 't', type: 'trigger', trigger: { kind: 'schedule', cron, timezone: 'America/St_Johns' } },
            noop('a'),
          ],
        }),
        cron,
      ).to.deep.equal([]);
  });

  it('accepts a switch that leaves nothing out: a bare edge, or one condition and its contrary', () => {
    const nodes = [...chain('a', 'b').nodes, { id: 's', type: 'switch' }, noop('c'), noop('d')];
    const fork = (...[first, second]: readonly [object, object]) =>
      faultsOf({
        title: 'x',
        nodes,
        edges: [...chain('a', 'b').edges, edge('b', 's'), edge('s', 'c', first), edge('s', 'd', second)],
      });
    expect(fork({ when: eq(1) }, {})).to.deep.equal([]);
    expect(fork({ when: eq(1) }, { when: [{ path: 'input.x', op: 'ne', value: 1 }] })).to.deep.equal([]);
    expect(
      fork({ when: [{ path: 'input.x', op: 'exists' }] }, { when: [{ path: 'input.x', op: 'absent' }] }),
    ).to.deep.equal([]);
    expect(fork({ when: eq(1) }, { when: [{ path: 'input.x', op: 'ne', value: 2 }] })).to.deep.equal([
      'switch-without-default s',
    ]);
  });

  it('tells every planted fault at once, whatever else is wrong', () => {
    const plants: readonly ((made: ReturnType<typeof chain>) => string)[] = [
      (made) => {
        made.nodes.push(noop('lonely'));
        return 'unreachable-node lonely';
      },
      (made) => {
        made.edges.push(edge('b', 'void'));
        return 'dangling-edge b-void';
      },
      (made) => {
        made.edges.push(edge('c', 'b'));
        return 'non-loop-cycle b';
      },
      (made) => {
        made.nodes.push({ id: 'w', type: 'wait' });
        made.edges.push(edge('a', 'w'), edge('w', 'c'));
        return 'bad-wait w';
      },
      (made) => {
        made.nodes.push({ id: 's', type: 'switch' });
        made.edges.push(edge('a', 's'));
        return 'dead-end s';
      },
      (made) => {
        made.edges.push(edge('c', 'a', { kind: 'loop' }));
        return 'loop-without-ceiling c';
      },
      (made) => {
        made.nodes.push(noop('x', { actor: {} }));
        made.edges.push(edge('a', 'x'));
        return 'bad-actor-kind x';
      },
      (made) => {
        made.nodes.push({ id: 'y', type: 'juggle' });
        made.edges.push(edge('a', 'y'));
        return 'bad-node-type y';
      },
      (made) => {
        made.edges.push(edge('a', 'c', { when: [{ path: '!', op: 'eq', value: 1 }] }));
        return 'bad-edge-condition a-c';
      },
      (made) => {
        Object.assign(made, { concurrency: 0 });
        return 'bad-concurrency concurrency';
      },
      (made) => {
        Object.assign(made, { input: { type: 'thing' } });
        return 'bad-shape input';
      },
    ];
    fc.assert(
      fc.property(fc.subarray([...plants], { minLength: 1 }), (chosen) => {
        const made = chain('a', 'b', 'c');
        const planted = chosen.map((plant) => plant(made));
        const found = faultsOf(made);
        expect(found).to.include.members(planted);
        expect(
          found.filter((fault) => !planted.includes(fault)),
          'and nothing that was not planted',
        ).to.deep.equal([]);
      }),
      { numRuns: 150 },
    );
  });

  it('never throws, stays bounded, and reads what it stored as itself, for any JSON', () => {
    fc.assert(
      fc.property(fc.oneof(wild, likely, graph), (value) => {
        const { definition, faults } = parseDefinition(value);
        expect(faults.length).to.be.at.most(400);
        for (const { code, message, ref } of faults) {
          expect(code).to.match(/^[a-z]+(?:-[a-z]+)*$/);
          expect(message.length).to.be.within(1, 600);
          expect(ref ?? 'the definition').to.be.a('string');
        }
        if (faults.length > 0) return;
        expect(JSON.stringify(parseDefinition(JSON.parse(JSON.stringify(definition))).definition)).to.equal(
          JSON.stringify(definition),
        );
      }),
      { numRuns: 800 },
    );
  });

  it('accepts no graph in which a run could get stuck', () => {
    let accepted = 0;
    fc.assert(
      fc.property(graph, fc.infiniteStream(fc.boolean()), (value, coin) => {
        const { definition, faults } = parseDefinition(value);
        if (faults.length > 0) return;
        accepted += 1;
        // A run by hand: each node is decided once all edges into it are; a node goes on if any was taken.
        const state = new Map<string, 'done' | 'skipped'>();
        const edges = new Map<string, 'taken' | 'dead'>();
        for (let round = 0; round <= definition.nodes.length; round += 1) {
          for (const node of definition.nodes) {
            const into = definition.edges.filter(({ to }) => to === node.id);
            if (state.has(node.id) || !into.every(({ id }) => edges.has(id))) continue;
            const alive = node.type === 'trigger' || into.some(({ id }) => edges.get(id) === 'taken');
            state.set(node.id, alive ? 'done' : 'skipped');
            const out = definition.edges.filter(({ from }) => from === node.id);
            const holding = out.filter(({ when }) => when.length === 0 || coin.next().value);
            const [first] = [
              ...holding.filter(({ when }) => when.length > 0),
              ...holding.filter(({ when }) => when.length === 0),
            ];
            if (alive && node.type === 'switch')
              expect(first, `the switch ${node.id} must go somewhere`).not.to.equal(undefined);
            for (const one of out)
              edges.set(
                one.id,
                alive && (node.type === 'switch' ? one === first : holding.includes(one)) ? 'taken' : 'dead',
              );
          }
        }
        expect(
          definition.nodes.filter(({ id }) => !state.has(id)),
          'nodes for ever undecided',
        ).to.deep.equal([]);
      }),
      { numRuns: 600 },
    );
    expect(accepted).to.be.greaterThan(100);
  });
});
