import { keep } from '../ground.js';
import type { Inherited, NodeStatus, Spot } from './context.js';
import { complete, fail } from './ending.js';
import { passGates } from './gates.js';
import type { RunNode } from './graph.js';
import { isActive, timeText, type Pass } from './pass.js';
import { decide, resolve, ways } from './settle.js';
import { beginAttempt } from './steps.js';

/**
 * The advance of a run: every node whose ways into it are decided starts at once, within the same commit.
 *
 * A node is *ready* when each edge into it is taken or dead and at least one is taken (a `merge` of `any`: as soon as
 * one is); it is *skipped* when all are dead, and then its own edges die. So a join waits exactly for the branches that
 * were really taken. A loop edge starts its round anew only when everything in that round has come to rest.
 */
export function advance(pass: Pass): void {
  while (!pass.over) {
    const opened = pass.opened.shift();
    if (opened !== undefined) {
      if (passGates(pass, opened.place, opened.from)) begin(pass, opened.place);
      continue;
    }
    const place = pass.candidates.shift();
    if (place === undefined) {
      if (followLoop(pass)) continue;
      if (!pass.active) complete(pass);
      return;
    }
    if (!isDecided(pass, place)) continue;
    if (pass.left === 0) { // a commit is bounded: the rest follows in the next
      pass.set({ continuing: true });
      return pass.tell({ kind: 'workflow-run', id: pass.now.id }, { type: 'run.continue' });
    }
    pass.left -= 1;
    enter(pass, place);
  }
}

/** Look at every node: at the start, and where an earlier commit left off. */
export function lookEverywhere(pass: Pass): void {
  for (let place = 0; place < pass.nodes.length; place += 1) pass.candidates.push(place);
}

/** Not begun yet, and nothing is missing. */
function isDecided(pass: Pass, place: number): boolean {
  const node = pass.nodes[place] as RunNode;
  if (pass.spots[node.id] !== undefined) return false;
  const into = pass.ways.into[place] ?? [];
  if (node.kind === 'merge' && node.any && into.some((edge) => pass.path(edge) === '+')) return true;
  return into.every((edge) => pass.path(edge) !== '?');
}

function enter(pass: Pass, place: number): void {
  const into = pass.ways.into[place] ?? [];
  if (into.length > 0 && !into.some((edge) => pass.path(edge) === '+')) return skip(pass, place);
  if (passGates(pass, place, 0)) begin(pass, place);
}

/** All gates before it are open. */
function begin(pass: Pass, place: number): void {
  const node = pass.nodes[place] as RunNode;
  switch (node.kind) {
    case 'trigger': return through(pass, place, 'fired');
    case 'gate': return open(pass, place, node.id);
    case 'switch': return through(pass, place, 'routed');
    case 'merge': case 'end': return through(pass, place, 'done');
    case 'wait': return wait(pass, place, node);
    case 'step': return node.rules.by === 'inline' ? through(pass, place, 'done') : beginAttempt(pass, place, 1);
    case 'fail':
      through(pass, place, 'failed', node.message);
      return fail(pass, { code: 'FAILED_BY_NODE', message: node.message, ref: node.id });
  }
}

/** All that a gate does is to be passed; its receipt is that of the last one. */
function open(pass: Pass, place: number, id: string): void {
  pass.move(id, { status: 'checkpoint', round: pass.now.rounds, attempt: 1, row: pass.spots[id]?.row ?? pass.now.receipts, at: pass.at });
  resolve(pass, place, { status: 'checkpoint' });
}

/** A node that needs nothing of the world begins and ends in this commit, with one receipt. */
function through(pass: Pass, place: number, status: NodeStatus, detail?: string): void {
  const node = pass.nodes[place] as RunNode;
  const spot: Spot = { status, round: pass.now.rounds, attempt: 1, row: pass.nextRow(), at: pass.at };
  pass.move(node.id, spot);
  const route = resolve(pass, place, { status });
  pass.receipt(spot.row, {
    nodeId: node.id, status, attempt: 1, round: spot.round, at: timeText(pass.at), settledAt: timeText(pass.at),
    ...(detail === undefined ? {} : { detail }), ...(node.kind === 'switch' ? { route } : {}),
  });
}

/** Nothing came this way: the branch is dead, here and further on. */
function skip(pass: Pass, place: number): void {
  const node = pass.nodes[place] as RunNode;
  const spot: Spot = { status: 'skipped', round: pass.now.rounds, attempt: 1, row: pass.nextRow(), at: pass.at };
  pass.move(node.id, spot);
  pass.receipt(spot.row, { nodeId: node.id, status: 'skipped', attempt: 1, round: spot.round, at: timeText(pass.at), settledAt: timeText(pass.at) });
  pass.learn(node.id, 'skipped', 1, null);
  decide(pass, place, () => false);
}

function wait(pass: Pass, place: number, node: RunNode & { kind: 'wait' }): void {
  const delayMs = node.until === undefined ? node.delayMs ?? 0 : node.until - pass.at;
  if (delayMs <= 0) return through(pass, place, 'done', 'The time had come already.');
  const spot: Spot = { status: 'waiting', round: pass.now.rounds, attempt: 1, row: pass.nextRow(), at: pass.at };
  pass.move(node.id, spot);
  pass.receipt(spot.row, { nodeId: node.id, status: 'waiting', attempt: 1, round: spot.round, at: timeText(pass.at), detail: `until ${timeText(pass.at + delayMs)}` });
  pass.timers.push({ id: `wait:${place}`, event: { type: 'wait.over', nodeId: node.id, round: spot.round, attempt: 1 }, delayMs });
}

/** The time has come. */
export function endWait(pass: Pass, { place, node, spot }: NonNullable<ReturnType<Pass['present']>>): void {
  if (node.kind !== 'wait') return;
  pass.move(node.id, { ...spot, status: 'done' });
  pass.receipt(spot.row, { nodeId: node.id, status: 'done', attempt: 1, round: spot.round, at: timeText(spot.at), settledAt: timeText(pass.at) });
  resolve(pass, place, { status: 'done' });
}

/** What an earlier run has done already: it stands here as if this run had done it, and its ways are decided anew. */
export function inherit(pass: Pass, inherited: readonly Inherited[]): void {
  for (const { nodeId, status, outcome } of inherited) {
    const place = pass.ways.place.get(nodeId);
    const node = pass.nodes[place ?? -1];
    if (place === undefined || node === undefined) continue;
    const spot: Spot = { status, round: 1, attempt: 1, row: pass.nextRow(), at: pass.at };
    pass.spot(nodeId, spot);
    pass.receipt(spot.row, { nodeId, status, attempt: 1, round: 1, at: timeText(pass.at), settledAt: timeText(pass.at), inherited: true, ...(outcome === null ? {} : { outcome: outcome as never }) });
    if (outcome !== null) pass.wishes.push(keep('outcomes', nodeId, { nodeId, status, attempt: 1, round: 1, outcome: outcome as never }));
    pass.learn(nodeId, status, 1, outcome);
    if (status === 'skipped') decide(pass, place, () => false);
    else ways(pass, place, node, node.kind === 'step' && node.rules.onError === 'error-edge' && status === 'failed' ? 'error' : undefined);
  }
}

/** The first loop whose round has come to rest: everything in it begins anew. */
function followLoop(pass: Pass): boolean {
  for (const spot of Object.values(pass.spots)) {
    if (spot.loop === undefined) continue;
    const again = pass.ways.rounds.get(spot.loop) ?? [];
    const ids = again.map((place) => (pass.nodes[place] as RunNode).id);
    if (ids.some((id) => { const other = pass.spots[id]; return other !== undefined && isActive(other); })) continue;
    for (const id of ids) pass.spot(id, undefined);
    for (const place of again) for (const at of pass.ways.out[place] ?? []) if (pass.spots[(pass.nodes[pass.graph.edges[at]?.to ?? 0] as RunNode).id] === undefined) pass.mark(at, '?');
    pass.set({ rounds: pass.now.rounds + 1, loops: { ...pass.now.loops, [spot.loop]: (pass.now.loops[spot.loop] ?? 0) + 1 } });
    pass.candidates.push(pass.graph.edges[spot.loop]?.to ?? 0);
    return true;
  }
  return false;
}
