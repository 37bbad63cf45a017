import type { Condition } from '../graph/conditions.js';
import type { RunGraph, RunNode, Topology } from './graph.js';
import { isActive, type StepRun } from './step-run.js';

/**
 * The frontier of a run: what its graph and the state of its steps say about which node comes next. Pure
 * functions of these; they change nothing.
 *
 * A node is *ready* when each edge into it is taken or dead and at least one is taken (a `merge` of `any`: as
 * soon as one is); it is *dead* when all are dead, and then its own edges die. So a join waits exactly for
 * the branches that were really taken. A loop edge starts its round again only when everything in that round
 * has come to rest.
 */
export interface Situation {
  readonly graph: RunGraph;
  readonly topology: Topology;
  readonly steps: Readonly<Record<string, StepRun>>;
  /** How often each loop edge was taken, by its place. */
  readonly loops: Readonly<Record<string, number>>;
  edgeState(edge: number): string;
  /** Do all conditions of an edge (or those that stop loops) hold, as far as anything is known? */
  holds(edge: number | 'stop', when: readonly Condition[]): boolean;
}

/** What becomes of a node: `undefined` while it is under way, or its edges are not all decided. */
export function fateOf(
  { graph, topology, steps, edgeState }: Situation,
  place: number,
): 'ready' | 'dead' | undefined {
  const node = graph.nodes[place] as RunNode;
  if (steps[node.id] !== undefined) return undefined;
  const into = topology.into[place] ?? [];
  const states = into.map((edge) => edgeState(edge));
  const isTaken = states.includes('+');
  const decided = (node.kind === 'merge' && node.any && isTaken) || !states.includes('?');
  if (!decided) return undefined;
  return isTaken || into.length === 0 ? 'ready' : 'dead';
}

/** Of the edges out of a node that has ended, those that are taken; all others die. */
export function edgesTaken(
  situation: Situation,
  place: number,
  lane: 'error' | undefined,
): readonly number[] {
  const { graph, topology, holds } = situation;
  const node = graph.nodes[place] as RunNode;
  const first = node.kind === 'switch' && !node.all ? firstOf(situation, place) : undefined;
  return (topology.out[place] ?? []).filter((at) => {
    const edge = graph.edges[at];
    if (edge === undefined || (edge.lane === 'error') !== (lane === 'error')) return false;
    return first === undefined ? holds(at, edge.when ?? []) : at === first;
  });
}

/** Of a switch: the first edge whose conditions hold; those without conditions come last. */
function firstOf({ graph, topology, holds }: Situation, place: number): number {
  const edges = (topology.out[place] ?? []).map((at) => ({ at, when: graph.edges[at]?.when }));
  return (
    (
      edges.find(({ at, when }) => when !== undefined && holds(at, when)) ??
      edges.find(({ when }) => when === undefined)
    )?.at ?? -1
  );
}

/**
 * Does a loop edge lead on from a node that has ended? It is followed once the round is over; the other edges
 * stay open until then. `left`: why the last one that does not was left.
 */
export function loopFrom(
  { graph, topology, loops, holds }: Situation,
  place: number,
): { readonly edge?: number; readonly left?: 'condition' | 'ceiling' } {
  let left: 'condition' | 'ceiling' | undefined;
  for (const edge of topology.loops[place] ?? []) {
    const { when = [], roundsMax = 1 } = graph.edges[edge] ?? {};
    const { stopWhen } = graph;
    const stops = !holds(edge, when) || (stopWhen.length > 0 && holds('stop', stopWhen));
    if (!stops && (loops[edge] ?? 0) < roundsMax) return left === undefined ? { edge } : { edge, left };
    left = stops ? 'condition' : 'ceiling';
  }
  return left === undefined ? {} : { left };
}

/** The first loop edge whose round has come to rest: everything in it begins again. */
export function loopDue({ graph, topology, steps }: Situation): number | undefined {
  for (const { loop } of Object.values(steps)) {
    if (loop === undefined) continue;
    const again = topology.rounds.get(loop) ?? [];
    const busy = again.some((place) => {
      const step = steps[(graph.nodes[place] as RunNode).id];
      return step !== undefined && isActive(step);
    });
    if (!busy) return loop;
  }
  return undefined;
}

/** Nothing is under way that will bring an event. */
export function isAtRest(steps: Readonly<Record<string, StepRun>>): boolean {
  for (const id in steps) if (isActive(steps[id] as StepRun)) return false;
  return true;
}

export function isParked(steps: Readonly<Record<string, StepRun>>): boolean {
  for (const id in steps) if (steps[id]?.state === 'parked') return true;
  return false;
}
