import type { Spot } from './context.js';
import type { RunNode } from './graph.js';
import { callOf, timeText, type Pass } from './pass.js';

/** The receipt of an attempt, and the end of what works on it. */
export function writeReceipt(pass: Pass, node: RunNode, spot: Spot, members: Readonly<Record<string, never | string | number | undefined>>): void {
  pass.receipt(spot.row, {
    nodeId: node.id, attempt: spot.attempt, round: spot.round, at: timeText(spot.at), dispatchedAt: timeText(spot.at),
    ...(spot.worker?.kind === 'session' ? { sessionId: spot.worker.id } : spot.worker === undefined ? {} : { runId: spot.worker.id }),
    ...(spot.costUsd === undefined || spot.costUsd === 0 ? {} : { costUsd: spot.costUsd }),
    ...members,
  });
}

/** What worked on an attempt is left: its effect, its deadline, and where it was stopped in the middle its session or child run. */
export function release(pass: Pass, place: number, spot: Spot, reason?: string): void {
  pass.stops.push(callOf(place, spot));
  pass.cancels.push(`timeout:${place}`);
  if (reason === undefined || spot.worker === undefined) return;
  const { kind, id } = spot.worker;
  pass.tell({ kind, id }, kind === 'session' ? { type: 'session.stop', reason: `Its workflow step is over: ${reason}`.slice(0, 300) } : { type: 'run.cancel', reason });
}
