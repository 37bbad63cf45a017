import { writeRow, sendToActor, type Json, type WriteRow, type Output, type Decision } from '../outputs.js';
import { isoTime } from '../sortable.js';
import { limits } from './context.js';
import type { RetryReason } from './graph.js';
import { trim } from './outcome.js';
import { receipt, type StepContext, type StepEvent } from './step-context.js';
import { pastGates } from './step-gates.js';
import type { StepCall, StepOutcome, StepResult } from './step-run.js';

/**
 * The attempts at a step. One attempt is one receipt. What works on it is an effect (a plain action), or a
 * session or child run that the effect opened and that reports when it is done; either is known by node, round
 * and attempt, and what comes for an attempt that is over is dropped.
 */
type StepDecision = Decision<StepContext>;

/** The first one once its gates are open. */
export function beginAttempt(context: StepContext): StepDecision {
  const { at, run } = context;
  const first = context.step.attempt === 0 || context.step.gate !== undefined;
  const { receipts, outputs } = first ? pastGates(context) : { receipts: context.receipts, outputs: [] };
  const step = { round: run.rounds, attempt: first ? 1 : context.step.attempt + 1, row: receipts + 1, at };
  return {
    set: { receipts: step.row, step },
    outputs: [...outputs, attemptReceipt({ ...context, step }, { status: 'running' })],
  };
}

/** What the effect of an attempt is told: to begin, or to read what the session that has ended said. */
export function stepCall(
  { run, node, step }: StepContext,
  event: StepEvent,
  mode: StepCall['mode'],
): StepCall {
  const said =
    event.type === 'step.ended'
      ? { text: event.text, ...(event.fields === undefined ? {} : { fields: event.fields }) }
      : {};
  return {
    runId: run.id,
    workflowId: run.workflowId,
    definitionVersion: run.definitionVersion,
    nodeId: node.id,
    round: step.round,
    attempt: step.attempt,
    row: step.row,
    mode,
    ...(run.authority?.lent === true && { lent: true }),
    ...(mode === 'collect' ? said : {}),
  };
}

export const resultOf = (event: { readonly type: string }): StepResult | undefined =>
  event.type.startsWith('xstate.done.') ? (event as { type: string; output: StepResult }).output : undefined;

const inputRow = ({ step }: StepContext, event: StepEvent): readonly Output[] => {
  const result = resultOf(event);
  return result !== undefined && 'input' in result && result.input !== undefined
    ? [writeRow('inputs', step.row, result.input)]
    : [];
};

export function noteOpened(context: StepContext, event: StepEvent): StepDecision {
  const result = resultOf(event);
  if (result?.state !== 'opened') return {};
  const step = { ...context.step, worker: result.worker };
  return {
    set: { step },
    outputs: [...inputRow(context, event), attemptReceipt({ ...context, step }, { status: 'running' })],
  };
}

/** The session or child run that worked on the attempt has ended: who it was, and what it has cost. */
export function noteWorker({ step }: StepContext, event: StepEvent): StepDecision {
  if (event.type !== 'step.ended') return {};
  const costUsd = (step.costUsd ?? 0) + (event.costUsd ?? 0);
  return { set: { step: { ...step, costUsd, worker: event.worker } } };
}

/** Its agent said something, but not what was asked for: it is asked again, a few times. */
export function remind({ run, node, place, step }: StepContext, event: StepEvent): StepDecision {
  const result = resultOf(event);
  if (result?.state !== 'unfit' || step.worker === undefined) return {};
  const reminders = (step.reminders ?? 0) + 1;
  const { id: runId } = run;
  return {
    set: { step: { ...step, reminders } },
    outputs: [
      sendToActor(
        { kind: 'session', id: step.worker.id },
        {
          type: 'message.post',
          message: {
            id: `${runId}:${place}.${step.round}.${step.attempt}.${reminders}`.slice(-64),
            content:
              `Your answer does not have the shape that this step asks for: ${result.message}\nAnswer ` +
              'again, with a JSON object in a code block that fits.',
            role: 'notification',
            kind: 'callback',
            meta: { kind: 'workflow-step', runId, nodeId: node.id },
          },
          step: { runId, nodeId: node.id, round: step.round, attempt: step.attempt },
        },
      ),
    ],
  };
}

/** Its agent handed in an outcome that fits: nothing need be read any more. */
export const submit = (context: StepContext, event: StepEvent): StepDecision =>
  event.type === 'step.submitted' ? done(context, event.outcome, 0, []) : {};

export function finish(context: StepContext, event: StepEvent): StepDecision {
  const result = resultOf(event);
  return result?.state === 'done'
    ? done(context, result.outcome, result.costUsd ?? 0, inputRow(context, event))
    : {};
}

function done(
  context: StepContext,
  brought: StepOutcome,
  costUsd: number,
  outputs: readonly Output[],
): StepDecision {
  const outcome = trim(brought);
  const spent = (context.step.costUsd ?? 0) + costUsd;
  const { attempt, round } = context.step;
  return {
    set: {
      costUsd: context.costUsd + spent,
      step: left(context.step),
      end: { status: 'done', attempt, outcome, follow: 'edges', settled: true },
    },
    outputs: [
      ...outputs,
      // The latest of each node, for the steps after it. An outcome is JSON.
      outcomeRow(context, { status: 'done', attempt, round, outcome: outcome as never }),
      attemptReceipt(
        { ...context, step: { ...context.step, costUsd: spent } },
        { status: 'done', settledAt: isoTime(context.at), outcome: outcome as never },
      ),
    ],
  };
}

/** Why an attempt failed, out of the event that says so. */
export function failureOf(
  { node }: StepContext,
  event: StepEvent,
): { readonly reason: RetryReason; readonly message: string } {
  const result = resultOf(event);
  if (result?.state === 'failed') return { reason: result.reason, message: result.message };
  if (result?.state === 'unfit') return { reason: 'no-output', message: result.message };
  if (event.type === 'step.ended')
    return {
      reason: event.outcome === 'interrupted' ? 'interrupted' : 'error',
      message: event.error ?? event.text,
    };
  if ((event.type as string).startsWith('xstate.after.')) {
    const seconds = node.kind === 'step' ? Math.round(node.rules.timeoutMs / 1000) : 0;
    return { reason: 'timeout', message: `The step took longer than ${seconds} s.` };
  }
  // An effect that broke is an attempt that failed
  const { message, code } = (
    event as { type: string } as { type: string; error: { message?: string; code?: string } }
  ).error;
  return {
    reason: code === 'TIMEOUT' ? 'timeout' : code === 'INTERRUPTED' ? 'interrupted' : 'error',
    message: message ?? 'The step failed without a reason.',
  };
}

/** Before the second attempt; twice as long before each further one. */
export const pauseOf = ({ node, step }: StepContext): number =>
  node.kind === 'step' ? Math.min(3_600_000, node.rules.delayMs * 2 ** (step.attempt - 1)) : 0;

export function failAttempt(context: StepContext, event: StepEvent): StepDecision {
  const { node, step, at } = context;
  if (node.kind !== 'step') return {};
  const { reason, message } = failureOf(context, event);
  const again = step.attempt < node.rules.attempts && node.rules.on.includes(reason);
  return {
    set: { costUsd: context.costUsd + (step.costUsd ?? 0), step: left(step) },
    outputs: [
      ...inputRow(context, event),
      // What has ended by itself need not be stopped
      ...(reason === 'timeout' ? stopWorker(context, message) : []),
      attemptReceipt(context, {
        status: 'failed',
        reason,
        detail: message.slice(0, limits.errorCharsMax),
        settledAt: isoTime(at),
        ...(again ? { retriedAfterMs: pauseOf(context) } : {}),
      }),
    ],
  };
}

/** The last attempt has failed. */
export function giveUp(context: StepContext, event: StepEvent): StepDecision {
  const { node, step } = context;
  if (node.kind !== 'step') return {};
  const { optional, onError } = node.rules;
  const detail = failureOf(context, event).message.slice(0, limits.errorCharsMax);
  const status = optional ? 'skipped' : 'failed';
  const { attempt, round } = step;
  const fails = !optional && onError === 'fail-run';
  return {
    set: {
      end: {
        status,
        attempt,
        outcome: null,
        follow: fails ? null : !optional && onError === 'error-edge' ? 'error' : 'edges',
        settled: true,
        ...(fails ? { error: { code: 'STEP_FAILED', message: detail, ref: node.id } } : {}),
      },
    },
    outputs: [outcomeRow(context, { status, attempt, round, outcome: { notes: detail } })],
  };
}

/** The run has ended: whatever is under way here is left. */
export function cancel(context: StepContext, event: StepEvent): StepDecision {
  if (event.type !== 'step.cancel') return {};
  const { step, at } = context;
  const { round, attempt, row, at: began } = step;
  return {
    set: { step: { round, attempt, row, at: began } },
    outputs: [
      ...stopWorker(context, event.why),
      attemptReceipt(context, {
        status: 'skipped',
        settledAt: isoTime(at),
        detail: `left: ${event.why}`.slice(0, 300),
      }),
    ],
  };
}

/** The session or child run that is in the middle of its work is stopped. */
function stopWorker({ step: { worker } }: StepContext, why: string): readonly Output[] {
  if (worker === undefined) return [];
  return [
    sendToActor(
      worker,
      worker.kind === 'session'
        ? { type: 'session.stop', reason: `Its workflow step is over: ${why}`.slice(0, 300) }
        : { type: 'run.cancel', reason: why },
    ),
  ];
}

/** A step that no one works on any more; who did is still known. */
const left = ({ round, attempt, row, at, worker }: StepContext['step']): StepContext['step'] => ({
  round,
  attempt,
  row,
  at,
  ...(worker === undefined ? {} : { worker }),
});

function attemptReceipt(context: StepContext, members: Readonly<Record<string, Json | undefined>>): WriteRow {
  const { attempt, round, at, row, worker, costUsd } = context.step;
  return receipt(context, row, {
    attempt,
    round,
    at: isoTime(at),
    dispatchedAt: isoTime(at),
    ...(worker?.kind === 'session'
      ? { sessionId: worker.id }
      : worker === undefined
        ? {}
        : { runId: worker.id }),
    ...(costUsd === undefined || costUsd === 0 ? {} : { costUsd }),
    ...members,
  });
}

const outcomeRow = ({ node }: StepContext, members: Readonly<Record<string, Json | undefined>>): WriteRow =>
  writeRow('outcomes', node.id, { nodeId: node.id, ...members });
