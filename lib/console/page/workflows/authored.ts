import type { WorkflowDefinition } from '../../../../machines/graph/definition.js';

/**
 * A stored definition as a person would have written it: without its stamps, and without what it would be given anyway.
 * Read again it is the same definition.
 * @example authoredOf(definition) // { title: 'Watering', nodes: [{ id: 'go', type: 'step', actor: {…} }], edges: […] }
 */
export function authoredOf(definition: WorkflowDefinition): Readonly<Record<string, unknown>> {
  const { title, name, description, status, owner, department, concurrency } = definition;
  const { runners, orchestrator, input, runGates, loop, nodes, edges, layout } = definition;
  const isManual = layout.source === 'manual';
  return said({
    title,
    name,
    description,
    status: status === 'active' ? null : status,
    owner,
    department,
    runners,
    orchestrator,
    concurrency: concurrency === 1 ? null : concurrency,
    input,
    loop: loop === null ? null : said({ ...loop }),
    runGates: runGates.map((gate) => said({ ...gate })),
    nodes: nodes.map((node) => {
      const { position, label, ...rest } = node;
      return said({
        id: node.id,
        type: node.type,
        label: label === node.id ? null : label,
        ...(rest.type === 'step' && { ...rest, ...shortStep(rest) }),
        ...(rest.type === 'gate' && { gate: shortGate(rest.gate, node.id) }),
        ...(rest.type === 'trigger' && { trigger: shortTrigger(rest.trigger) }),
        ...(rest.type !== 'step' && rest.type !== 'gate' && rest.type !== 'trigger' && rest),
        ...(rest.type === 'end' && Object.keys(rest.result).length === 0 && { result: null }),
        position: isManual ? position : null,
      });
    }),
    edges: edges.map(({ kind, maxRounds, ...edge }) =>
      said({
        ...edge,
        kind: kind === 'sequence' ? null : kind,
        maxRounds: maxRounds === loop?.maxRoundsPerRun ? null : maxRounds,
      }),
    ),
    layout: isManual ? { source: 'manual' } : null,
  });
}

type Step = Omit<
  Extract<WorkflowDefinition['nodes'][number], { readonly type: 'step' }>,
  'position' | 'label'
>;
type Gate = WorkflowDefinition['runGates'][number];

function shortStep({
  actor,
  instructions,
  gates,
  optional,
  options,
}: Step): Readonly<Record<string, unknown>> {
  const { retry, session, timeoutMs, onError, output, ...others } = options;
  const short = said({
    ...others,
    output: output === 'handoff' ? null : output,
    retry: JSON.stringify(retry) === onceMore ? null : retry,
    onError: onError === 'fail-run' ? null : onError,
    ...(timeoutMs === dayMs ? {} : minutesOr(timeoutMs)),
    session: session.mode === 'fresh' ? null : said({ ...session }),
  });
  return {
    actor: Object.fromEntries(
      Object.entries(actor).filter(
        ([member, value]) =>
          value !== null && !(mayBeLeftOut.has(member) && Object.keys(value as object).length === 0),
      ),
    ),
    instructions: instructions === '' ? null : instructions,
    gates: gates.map((gate) => said({ ...gate })),
    optional: optional ? true : null,
    options: Object.keys(short).length === 0 ? null : short,
  };
}

const shortGate = (gate: Gate, nodeId: string): Readonly<Record<string, unknown>> =>
  said({
    ...gate,
    id: gate.id === nodeId ? null : gate.id,
    approvalRef: gate.approvalRef === nodeId ? null : gate.approvalRef,
    description: gate.description === '' ? null : gate.description,
    timeoutMs: null,
    ...(gate.timeoutMs !== null && gate.timeoutMs !== weekMs && minutesOr(gate.timeoutMs)),
    ...(gate.timeoutMs === weekMs && gate.kind === 'approval' && minutesOr(weekMs)),
  });

const shortTrigger = (trigger: object): Readonly<Record<string, unknown>> => {
  const { filter, ...rest } = trigger as { readonly filter?: Readonly<Record<string, unknown>> };
  const short = said({ ...filter });
  return said({ ...rest, filter: Object.keys(short).length === 0 ? null : short });
};

const minutesOr = (ms: number): Readonly<Record<string, number>> =>
  ms % 60_000 === 0 ? { timeoutMinutes: ms / 60_000 } : { timeoutMs: ms };

/** Without what is null or an empty list. */
const said = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );

const mayBeLeftOut: ReadonlySet<string> = new Set(['headers', 'input', 'fields']);

/** What a step is given that names none: see `machines/graph/read-nodes.ts`. */
const onceMore = JSON.stringify({ maxAttempts: 2, on: ['interrupted'], delayMs: 0 });
const dayMs = 24 * 3_600_000;
const weekMs = 7 * dayMs;
