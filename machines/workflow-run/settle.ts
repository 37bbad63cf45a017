import type { NodeStatus, StepOutcome } from './context.js';
import type { RunNode } from './graph.js';
import type { Pass } from './pass.js';

/** What follows from a node that has come to its end: what is known of it, and which ways out of it are taken. */
export interface Settled {
  readonly status: NodeStatus;
  readonly attempt?: number;
  readonly outcome?: StepOutcome | null;
  /** It failed, and only its error lane is open. */
  readonly lane?: 'error';
}

/** A node has come to its end: decide the ways out of it. Answers with the ids of the edges taken. */
export function resolve(pass: Pass, place: number, { status, attempt = 1, outcome = null, lane }: Settled): readonly string[] {
  const node = pass.nodes[place] as RunNode;
  pass.learn(node.id, status, attempt, outcome);
  pass.set({ settled: pass.now.settled + 1 });
  return lane === undefined && wantsLoop(pass, place, node) ? [] : ways(pass, place, node, lane);
}

export function ways(pass: Pass, place: number, node: RunNode, lane: 'error' | undefined): readonly string[] {
  const first = node.kind === 'switch' && !node.all ? firstWay(pass, place) : undefined;
  return decide(pass, place, (at) => {
    const edge = pass.graph.edges[at];
    if (edge === undefined || (edge.lane === 'error') !== (lane === 'error')) return false;
    return first === undefined ? pass.holds(at, edge.when ?? []) : at === first;
  });
}

/** Of a switch: the first way whose conditions hold; those without conditions come last. */
function firstWay(pass: Pass, place: number): number {
  const ways = (pass.ways.out[place] ?? []).map((at) => ({ at, when: pass.graph.edges[at]?.when }));
  return (ways.find(({ at, when }) => when !== undefined && pass.holds(at, when)) ?? ways.find(({ when }) => when === undefined))?.at ?? -1;
}

export function decide(pass: Pass, place: number, goes: (edge: number) => boolean): readonly string[] {
  const taken: string[] = [];
  for (const at of pass.ways.out[place] ?? []) {
    const edge = pass.graph.edges[at];
    if (edge === undefined) continue;
    const takes = goes(at);
    pass.mark(at, takes ? '+' : '-');
    if (takes) taken.push(edge.id);
    pass.candidates.push(edge.to);
  }
  return taken;
}

/** A loop edge that leads is followed once the round is over; the other ways stay undecided until then. */
function wantsLoop(pass: Pass, place: number, node: RunNode): boolean {
  for (const at of pass.ways.loops[place] ?? []) {
    const { when = [], roundsMax = 1 } = pass.graph.edges[at] ?? {};
    const { stopWhen } = pass.graph;
    const stops = !pass.holds(at, when) || (stopWhen.length > 0 && pass.holds('stop', stopWhen));
    const spent = (pass.now.loops[at] ?? 0) >= roundsMax;
    if (stops || spent) {
      pass.set({ loopExit: stops ? 'condition' : 'ceiling' });
      continue;
    }
    const spot = pass.spots[node.id];
    if (spot !== undefined) pass.spot(node.id, { ...spot, loop: at });
    return true;
  }
  return false;
}
