import type { DoneActorEvent, ErrorActorEvent } from 'xstate';
import type { Caller } from '../caller.js';
import { sendToActor, stampOf, type Output, type Decision } from '../outputs.js';
import {
  excerpt,
  limits,
  type Outcome,
  type SessionContext,
  type StepLink,
  type TurnOutput,
} from './context.js';
import { costOf } from './spent.js';

/**
 * The work is at an end for now: it is reported to parent and work item, once. A parent that stopped its child
 * itself need not be woken for that.
 */
export function settle(
  context: SessionContext,
  outcome: Outcome,
  text: string,
  { by, changedFiles }: { readonly by?: Caller; readonly changedFiles?: readonly string[] } = {},
): Decision<SessionContext> {
  if (!context.engaged) return {};
  const outputs: Output[] = [];
  const stoppedByParent = by?.type === 'session' && by.id === context.parentSessionId;
  if (context.parentSessionId !== null && !stoppedByParent) {
    const words = excerpt(text, limits.callbackCharsMax);
    outputs.push(
      sendToActor(
        { kind: 'session', id: context.parentSessionId },
        { type: 'child.finished', childId: context.id, outcome, title: context.title, text: words },
      ),
    );
  }
  if (context.workItemId !== null) {
    const summary = excerpt(outcome === 'succeeded' ? text : (context.lastError ?? text), 500);
    outputs.push(
      sendToActor(
        { kind: 'work-item', id: context.workItemId },
        {
          type: 'attempt.ended',
          sessionId: context.id,
          outcome,
          summary,
          ...costOf(context),
          ...(changedFiles && { changedFiles }),
        },
      ),
    );
  }
  const reviewed = context.source === 'review' ? reviewedItem(context.sourceRef) : null;
  if (reviewed !== null)
    outputs.push(
      sendToActor(
        { kind: 'work-item', id: reviewed },
        { type: 'review.ended', sessionId: context.id, summary: excerpt(context.lastError ?? text, 200) },
      ),
    );
  for (const { costBefore, ...step } of context.steps ?? []) {
    outputs.push(
      sendToActor(
        { kind: 'workflow-run', id: step.runId },
        {
          type: 'step.ended',
          nodeId: step.nodeId,
          round: step.round,
          attempt: step.attempt,
          worker: { kind: 'session', id: context.id },
          outcome,
          text: excerpt(text, limits.stepCharsMax),
          error: outcome === 'succeeded' ? null : context.lastError,
          ...costOf({ ...context, costBefore }),
        },
      ),
    );
  }
  if (context.reportTo !== undefined) {
    const error = outcome === 'succeeded' ? null : context.lastError;
    outputs.push(
      sendToActor(context.reportTo, {
        type: 'work.ended',
        sessionId: context.id,
        outcome,
        text: excerpt(text, limits.replyCharsMax),
        error,
      }),
    );
  }
  return { set: { engaged: false, ...(context.steps === undefined ? {} : { steps: [] }) }, outputs };
}

/** `review:TRP-12:0` names the item that a session reviews. */
const reviewedItem = (sourceRef: string | null): string | null =>
  /^review:([^:]+):\d+$/.exec(sourceRef ?? '')?.[1] ?? null;

/** A step of a workflow waits for the end of what begins now. The same attempt is reported once. */
export function link(context: SessionContext, step: StepLink | undefined): Partial<SessionContext> {
  if (step === undefined) return {};
  const { runId, nodeId, round, attempt } = step;
  const others = (context.steps ?? []).filter(
    (known) =>
      known.runId !== runId || known.nodeId !== nodeId || known.round !== round || known.attempt !== attempt,
  );
  return {
    steps: [...others, { runId, nodeId, round, attempt, costBefore: context.totalCost }].slice(
      -limits.stepsMax,
    ),
  };
}

/**
 * Who wrote through a connector is answered through it. What the connector cannot take any more is its own
 * affair.
 */
export function replied(
  { replyTo }: SessionContext,
  turnId: string,
  text: string,
  error: string | null,
): readonly Output[] {
  if (replyTo === undefined) return [];
  const { connector, channel, thread } = replyTo;
  const words =
    text.trim() === ''
      ? `This could not be done: ${error ?? 'there was no answer.'}`
      : excerpt(text, limits.replyCharsMax);
  return [
    sendToActor(
      { kind: 'connector', id: connector },
      { type: 'delivery.request', deliveryId: turnId, channel, thread, text: words },
    ),
  ];
}

/** The same at the end of a turn; one that a limit has ended came to nothing. */
export const settleEnded = (context: SessionContext, output: TurnOutput): Decision<SessionContext> =>
  settle(context, output.outcome === 'rate-limited' ? 'interrupted' : output.outcome, output.text, output);

/** The end of a turn's effect, as guards and actions of the machine take it. */
export interface TurnEnd {
  readonly output: TurnOutput;
  /** Epoch milliseconds. */
  readonly at: number;
}

export const ended = ({ event }: { event: DoneActorEvent<TurnOutput> }): TurnEnd => ({
  output: event.output,
  at: stampOf(event).at,
});

/** The effect itself failed: our fault, and still an end of the turn that a person must be able to read. */
export const failed = ({ event }: { event: ErrorActorEvent }): TurnEnd => {
  const message = (event.error as { message?: unknown } | null)?.message;
  const error = typeof message === 'string' && message !== '' ? message : 'The engine failed.';
  return { output: { outcome: 'failed', text: '', error }, at: stampOf(event).at };
};

/** Why a turn did not succeed, as a sentence. */
export function reasonOf(output: TurnOutput): string {
  const reason =
    output.error ??
    (output.outcome === 'failed' ? 'The turn failed without a reason.' : 'The turn was interrupted.');
  if (output.unconfirmedPid === undefined) return reason;
  const reported = output.error === undefined ? '' : ` ${output.error}`;
  const gone = `The process ${output.unconfirmedPid} of the last turn could not be confirmed gone.`;
  return `${gone} End it, then resume the queue.${reported}`;
}
