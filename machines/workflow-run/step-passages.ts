import type { Decision } from '../outputs.js';
import { isoTime } from '../sortable.js';
import { receipt, type StepContext } from './step-context.js';
import { pastGates } from './step-gates.js';
import { statusOf } from './step-run.js';

/** How a step passes that no one works on: a node that needs nothing, a dead branch, a wait. */
type StepDecision = Decision<StepContext>;

/** The receipt of a node that needs nothing of the world, which begins and ends in this commit. */
export function passThrough(context: StepContext): StepDecision {
  const { node, at, run } = context;
  const past = pastGates(context);
  const row = past.receipts + 1;
  const failed = node.kind === 'fail';
  const status = failed ? 'failed' : statusOf(node, 'succeeded');
  const detail = failed ? node.message : node.kind === 'wait' ? 'The time had come already.' : undefined;
  return {
    set: {
      receipts: row,
      step: { round: run.rounds, attempt: 1, row, at },
      end: {
        status,
        attempt: 1,
        outcome: null,
        follow: 'edges',
        settled: true,
        ...(failed ? { error: { code: 'FAILED_BY_NODE', message: node.message, ref: node.id } } : {}),
      },
    },
    outputs: [
      ...past.outputs,
      receipt(context, row, {
        status,
        attempt: 1,
        round: run.rounds,
        at: isoTime(at),
        settledAt: isoTime(at),
        detail,
      }),
    ],
  };
}

/** Nothing came this way: the branch is dead, here and further on. */
export function skip(context: StepContext): StepDecision {
  const { at, run } = context;
  const row = context.receipts + 1;
  return {
    set: {
      receipts: row,
      step: { round: run.rounds, attempt: 1, row, at },
      end: { status: 'skipped', attempt: 1, outcome: null, follow: 'dead', settled: false },
    },
    outputs: [
      receipt(context, row, {
        status: 'skipped',
        attempt: 1,
        round: run.rounds,
        at: isoTime(at),
        settledAt: isoTime(at),
      }),
    ],
  };
}

export function await_(context: StepContext): StepDecision {
  const { at, run } = context;
  const row = context.receipts + 1;
  return {
    set: { receipts: row, step: { round: run.rounds, attempt: 1, row, at } },
    outputs: [
      receipt(context, row, {
        status: 'waiting',
        attempt: 1,
        round: run.rounds,
        at: isoTime(at),
        detail: `until ${isoTime(at + waitOf(context))}`,
      }),
    ],
  };
}

/** Until its time comes, milliseconds; none once it has come. */
export function waitOf({ node, at }: StepContext): number {
  if (node.kind !== 'wait') return 0;
  return Math.max(0, node.until === undefined ? (node.delayMs ?? 0) : node.until - at);
}

export function endWait(context: StepContext): StepDecision {
  const { at, step } = context;
  return {
    set: { end: { status: 'done', attempt: 1, outcome: null, follow: 'edges', settled: true } },
    outputs: [
      receipt(context, step.row, {
        status: 'done',
        attempt: 1,
        round: step.round,
        at: isoTime(step.at),
        settledAt: isoTime(at),
      }),
    ],
  };
}
