import type { Condition } from '../graph/conditions.js';
import { parsePath } from '../graph/paths.js';

/**
 * What a run carries of its definition: who follows whom, and under which rules. Prose (labels, instructions,
 * bodies of requests) stays in the definition's immutable version row, where effects and readers find it; so
 * the snapshot stays small, however long the instructions are.
 */
export interface RunGraph {
  /** In order of execution. */
  readonly nodes: readonly RunNode[];
  readonly edges: readonly RunEdge[];
  /** No edge leads back any more once all of these hold. */
  readonly stopWhen: readonly Condition[];
}

export type RunNode =
  /** `gates`: those of the whole run, before its first step. */
  | { readonly id: string; readonly kind: 'trigger'; readonly gates: readonly GateRules[] }
  | { readonly id: string; readonly kind: 'step'; readonly rules: StepRules }
  | { readonly id: string; readonly kind: 'gate'; readonly gates: readonly GateRules[] }
  | { readonly id: string; readonly kind: 'switch'; readonly all: boolean }
  | { readonly id: string; readonly kind: 'wait'; readonly delayMs?: number; readonly until?: number }
  | { readonly id: string; readonly kind: 'merge'; readonly any: boolean }
  | { readonly id: string; readonly kind: 'fail'; readonly message: string }
  | { readonly id: string; readonly kind: 'end' };

export interface StepRules {
  /**
   * `inline`: nothing is to be done outside. `keyed`: may be done again under its key. `fenced`: never twice.
   */
  readonly by: 'inline' | 'keyed' | 'fenced';
  readonly gates: readonly GateRules[];
  /** Counts the first. */
  readonly attempts: number;
  readonly on: readonly RetryReason[];
  /** Before the second attempt; twice as long before each further one. */
  readonly delayMs: number;
  readonly onError: 'fail-run' | 'continue' | 'error-edge';
  readonly timeoutMs: number;
  readonly optional: boolean;
}

export interface GateRules {
  readonly id: string;
  readonly kind: 'approval' | 'artifact' | 'flag';
  /** The pattern of an artifact, the name of a flag. */
  readonly wants: string | null;
  /** The employee who decides, where the definition names one. */
  readonly approver: string | null;
  /** The beginning of what is asked. */
  readonly asks: string;
  readonly timeoutMs: number | null;
}

export type RetryReason = 'error' | 'no-output' | 'interrupted' | 'timeout';

export interface RunEdge {
  readonly id: string;
  /** Places in `nodes`. */
  readonly from: number;
  readonly to: number;
  readonly lane?: 'error' | 'loop';
  readonly when?: readonly Condition[];
  /** Of a loop: how often it may be taken. */
  readonly roundsMax?: number;
}

/**
 * The graph of a context. It stands there as text: anyone who walks through a snapshot (codec, differences,
 * XState's own copies) does so at every step, and should meet one word there and not a thousand. Texts are
 * read once.
 */
export function graphOf({ graph }: { readonly graph: string }): RunGraph {
  let read = texts.get(graph);
  if (read !== undefined) return read;
  read = unpack(graph);
  if (texts.size >= textsMax) texts.delete(texts.keys().next().value ?? '');
  texts.set(graph, read);
  return read;
}

/**
 * The text of a graph: rules as most steps have them are left out, so that the largest definition still fits
 * a snapshot.
 */
export function packGraph(graph: RunGraph): string {
  const nodes = graph.nodes.map((node) =>
    node.kind !== 'step'
      ? node
      : {
          ...node,
          rules: Object.fromEntries(
            Object.entries(node.rules).filter(
              ([member, value]) =>
                JSON.stringify(value) !== JSON.stringify(usual[member as keyof typeof usual]),
            ),
          ),
        },
  );
  return JSON.stringify({ ...graph, nodes });
}

function unpack(text: string): RunGraph {
  const graph = JSON.parse(text) as RunGraph;
  return {
    ...graph,
    nodes: graph.nodes.map((node) =>
      node.kind === 'step' ? { ...node, rules: { ...usual, ...node.rules } } : node,
    ),
  };
}

const usual: StepRules = {
  by: 'keyed',
  gates: [],
  attempts: 2,
  on: ['interrupted'],
  delayMs: 0,
  onError: 'fail-run',
  timeoutMs: 24 * 3_600_000,
  optional: false,
};

const texts = new Map<string, RunGraph>();
const textsMax = 128;

/** Who follows whom, by place. Made once per graph and kept beside it. */
export interface Topology {
  readonly place: ReadonlyMap<string, number>;
  /** Edges by their places in `edges`; loops apart. */
  readonly out: readonly (readonly number[])[];
  readonly into: readonly (readonly number[])[];
  readonly loops: readonly (readonly number[])[];
  /**
   * Conditions that speak of a subject (`trigger`, `input`, or `steps.<id>`), with the key under which a run
   * keeps what it knows of them.
   */
  readonly about: ReadonlyMap<string, readonly Known[]>;
  /** Gates that open by themselves, with the same kind of key. */
  readonly selfOpening: readonly { readonly key: string; readonly gate: GateRules }[];
  /** Places of the nodes that a loop edge does again, by the edge's place. */
  readonly rounds: ReadonlyMap<number, readonly number[]>;
}

export interface Known {
  readonly key: string;
  readonly condition: Condition;
}

const surveyed = new WeakMap<RunGraph, Topology>();

export function topologyOf(graph: RunGraph): Topology {
  let topology = surveyed.get(graph);
  if (topology === undefined) surveyed.set(graph, (topology = survey(graph)));
  return topology;
}

function survey(graph: RunGraph): Topology {
  const { nodes, edges, stopWhen } = graph;
  const place = new Map(nodes.map(({ id }, at) => [id, at]));
  const out = nodes.map((): number[] => []);
  const into = nodes.map((): number[] => []);
  const loops = nodes.map((): number[] => []);
  const about = new Map<string, Known[]>();
  const note = (key: string, condition: Condition): void => {
    const subject = subjectOf(condition, (id) => place.has(id));
    about.set(subject, [...(about.get(subject) ?? []), { key, condition }]);
  };
  edges.forEach((edge, at) => {
    (edge.lane === 'loop' ? loops : out)[edge.from]?.push(at);
    if (edge.lane !== 'loop') into[edge.to]?.push(at);
    edge.when?.forEach((condition, n) => note(truthKey(at, n), condition));
  });
  stopWhen.forEach((condition, n) => note(truthKey('stop', n), condition));
  const rounds = new Map(
    edges.flatMap((edge, at) =>
      edge.lane === 'loop' ? [[at, between(edges, out, into, edge)] as const] : [],
    ),
  );
  return { place, out, into, loops, about, selfOpening: selfOpening(graph), rounds };
}

/** `3.0`: the first condition of the fourth edge. */
export const truthKey = (edge: number | 'stop', n: number): string => `${edge}.${n}`;

/** `steps.<id>`, `run`, `trigger` or `input`. */
export function subjectOf({ path }: Condition, isNode: (id: string) => boolean): string {
  const parsed = parsePath(path, isNode);
  return parsed?.root === 'steps' ? `steps.${parsed.nodeId}` : (parsed?.root ?? 'nothing');
}

/** What follows from the loop's target and leads to its source. */
function between(
  edges: readonly RunEdge[],
  out: readonly (readonly number[])[],
  into: readonly (readonly number[])[],
  loop: RunEdge,
): readonly number[] {
  const follow = (start: number, next: readonly (readonly number[])[], end: 'to' | 'from'): Set<number> => {
    const met = new Set([start]);
    // A set may grow while it is walked
    for (const place of met) for (const at of next[place] ?? []) met.add(edges[at]?.[end] ?? start);
    return met;
  };
  const after = follow(loop.to, out, 'to');
  const before = follow(loop.from, into, 'from');
  return [...after].filter((place) => before.has(place));
}

const selfOpening = ({ nodes }: RunGraph): Topology['selfOpening'] =>
  nodes.flatMap((node) =>
    gatesOf(node)
      .filter(({ kind }) => kind !== 'approval')
      .map((gate) => ({ key: openKey(node.id, gate), gate })),
  );

export const openKey = (nodeId: string, gate: Pick<GateRules, 'id'>): string => `gate.${nodeId}.${gate.id}`;

export const gatesOf = (node: RunNode): readonly GateRules[] =>
  node.kind === 'gate' || node.kind === 'trigger' ? node.gates : node.kind === 'step' ? node.rules.gates : [];
