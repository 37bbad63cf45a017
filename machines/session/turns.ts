import { afterwards, publish, sendToActor, writeRow } from '../outputs.js';
import type { Decision, Json, Output, WriteRow } from '../outputs.js';
import { callerName } from '../caller.js';
import {
  excerpt,
  limits,
  type EngineSession,
  type SessionContext,
  type SessionEventOf,
  type SessionInput,
  type TurnInput,
  type TurnOutput,
} from './context.js';
import { inherit } from './lifecycle.js';
import { link, reasonOf, replied, settle } from './completion.js';
import { policyOf } from './permissions.js';
import { nextBatch, post } from './queue.js';
import { goesOn, isResumed, isResumeNotice } from './resume.js';
import { queueFrame, queueRow, written } from './rows.js';
import { engagement, spent } from './spent.js';

/**
 * What happens to a session's turns: opened, dispatched, ended, left, and reported. One function per
 * decision.
 */

/** A session whose engine is not available has failed before it began, and says so to all who wait for it. */
export function open(context: SessionContext, input: SessionInput): Decision<SessionContext> {
  const announced: Decision<SessionContext> = {
    outputs: [
      publish('session:created', {
        sessionId: context.id,
        employee: context.employee,
        title: context.title,
        parentSessionId: context.parentSessionId,
      }),
    ],
  };
  const { transcript } = input;
  const made = transcript ? afterwards(context, announced, (now) => inherit(now, transcript)) : announced;
  const created =
    input.step === undefined ? made : afterwards(context, made, (now) => ({ set: link(now, input.step) }));
  if (!input.unavailable) {
    const message = input.message;
    return message
      ? afterwards(context, created, (now) =>
          post(now, { type: 'message.post', message, at: input.at, by: input.by ?? { type: 'operator' } }),
        )
      : created;
  }
  const reason = context.lastError ?? '';
  const message = input.message;
  const asked = message ? afterwards(context, created, (now) => written(now, message, input.at)) : created;
  const failed = afterwards(context, asked, (now) => ({
    set: { messages: now.messages + 1, attemptOutcome: 'failed' as const, ...engagement(now) },
    outputs: [errorRow(now, `${now.id}:0`, reason, input.at), ...started(now), completed(now, '', reason)],
  }));
  return afterwards(context, failed, (now) => settle(now, 'failed', reason));
}

/** The next turn begins: its messages leave the queue. */
export function dispatch(context: SessionContext, at: number): Decision<SessionContext> {
  const { batch, rest } = nextBatch(context.queue);
  const turns = context.turns + 1;
  const id = `${context.id}:${turns}`;
  const next = { ...context, queue: rest };
  return {
    set: {
      turns,
      turn: { id, items: batch, startedAt: at, began: false, ...isResumed(context, batch) },
      queue: rest,
      lastActivity: at,
      lastError: null,
      resetAt: null,
      archivedAt: null, // what is at work is not put away
      ...engagement(context),
      attemptOutcome: null,
      attemptToken: id,
      ...(context.unfinished == null ? {} : { unfinished: null }),
    },
    outputs: [
      ...batch.map((item) => queueRow(item, 'running', at, null)),
      queueFrame(next),
      publish('session:started', { sessionId: context.id, turnId: id }),
      ...(context.engaged ? [] : started(context)),
    ],
  };
}

export function turnInput(context: SessionContext): TurnInput {
  const turn = current(context);
  return {
    turnId: turn.id,
    messageIds: turn.items.map((item) => item.id),
    engine: context.engine,
    model: context.model,
    effort: context.effort,
    nativeId: nativeId(context),
    cwd: context.cwd,
    employee: context.employee,
    parentSessionId: context.parentSessionId,
    rootSessionId: context.ancestors.at(-1) ?? context.id,
    workItemId: context.workItemId,
    ...(context.confinedAs === undefined ? {} : { confinedAs: context.confinedAs }),
    deadlineMs: context.turnDeadlineMs,
    toolPolicy: policyOf(context),
    ...(context.placement === undefined ? {} : { placement: context.placement }),
    ...(turn.isResumed && { isResumed: true }),
  };
}

/** A turn ended by itself. Its words become messages; whether the session rests now is for the machine. */
export function endTurn(context: SessionContext, output: TurnOutput, at: number): Decision<SessionContext> {
  const turn = current(context);
  const outcome = output.outcome === 'rate-limited' ? 'interrupted' : output.outcome;
  const error =
    outcome === 'succeeded' && output.unconfirmedPid === undefined
      ? null
      : excerpt(reasonOf(output), limits.errorCharsMax);
  const rows: WriteRow[] = [];
  if (output.text !== '')
    rows.push(assistantRow(context, turn.id, output.text, at, outcome === 'interrupted'));
  if (outcome === 'failed')
    rows.push(errorRow({ ...context, messages: context.messages + rows.length }, turn.id, error ?? '', at));
  return {
    set: {
      ...spent(context, output.usage),
      messages: context.messages + rows.length,
      turn: null,
      lastActivity: at,
      lastError: error,
      attemptOutcome: outcome,
      attemptTerminalVersion: context.attemptTerminalVersion + 1,
      totalTurns: context.totalTurns + 1,
      waits: 0,
      ...(context.resumes !== undefined && output.cut === undefined ? { resumes: 0 } : {}),
      ...(outcome === 'interrupted'
        ? { unfinished: turn.items.filter((item) => !isResumeNotice(item)) }
        : {}),
    },
    outputs: [
      ...rows,
      ...turn.items.map((item) =>
        queueRow(item, outcome === 'interrupted' ? 'interrupted' : 'completed', turn.startedAt, at),
      ),
      outcome === 'interrupted'
        ? publish('session:interrupted', { sessionId: context.id, reason: error })
        : completed(context, output.text, error),
      ...(goesOn(context, output) ? [] : replied(context, turn.id, output.text, error)),
    ],
  };
}

/** The provider's limit is reached: the turn goes back to the head of the queue and is retried at `resetAt`. */
export function postpone(context: SessionContext, output: TurnOutput, at: number): Decision<SessionContext> {
  const turn = current(context);
  const patience = Math.min(300_000, 1_000 * 2 ** context.waits); // no hot loop where it is over at once
  const resetAt = Math.max(output.resetAt ?? at + 300_000, at + patience);
  const reason = excerpt(output.error ?? "The provider's rate limit is reached.", limits.errorCharsMax);
  return {
    set: {
      ...spent(context, output.usage),
      queue: [...turn.items, ...context.queue],
      turn: null,
      resetAt,
      waits: Math.min(context.waits + 1, 16),
      lastActivity: at,
      lastError: reason,
    },
    outputs: [
      ...turn.items.map((item) => queueRow(item, 'pending', null, null)),
      publish('session:rate-limited', { sessionId: context.id, resetAt, reason }),
    ],
  };
}

/** It is stopped: the turn is left, what waited is cancelled and stays visible. */
export function stop(
  context: SessionContext,
  event: SessionEventOf<'session.stop'>,
): Decision<SessionContext> {
  const turn = context.turn;
  const reason = event.reason?.trim() || `Stopped by ${callerName(event.by)}.`;
  const stopped: Decision<SessionContext> = {
    set: {
      turn: null,
      queue: [],
      queuePaused: false,
      leftTurns: turn ? [...context.leftTurns, turn.id].slice(-limits.leftTurnsMax) : context.leftTurns,
      resetAt: null,
      waits: 0,
      lastActivity: event.at,
      lastError: excerpt(reason, limits.errorCharsMax),
      ...(context.engaged ? { attemptOutcome: 'interrupted' as const } : {}),
      ...(turn
        ? { attemptTerminalVersion: context.attemptTerminalVersion + 1, totalTurns: context.totalTurns + 1 }
        : {}),
    },
    outputs: [
      ...(turn?.items ?? []).map((item) => queueRow(item, 'interrupted', turn?.startedAt ?? null, event.at)),
      ...context.queue.map((item) => queueRow(item, 'cancelled', null, event.at)),
      ...(context.queue.length > 0 ? [queueFrame({ ...context, queue: [], queuePaused: false })] : []),
      publish('session:stopped', { sessionId: context.id, reason: excerpt(reason, 140) }),
    ],
  };
  return afterwards(context, stopped, (now) => settle(now, 'interrupted', '', event));
}

/** What a turn had said when it was left. */
export function keepPartial(
  context: SessionContext,
  event: SessionEventOf<'turn.partial'>,
): Decision<SessionContext> {
  if (!context.leftTurns.includes(event.turnId)) return {};
  const n = event.text === '' ? context.messages : context.messages + 1;
  return {
    set: {
      ...spent(context, event.usage),
      messages: n,
      leftTurns: context.leftTurns.filter((id) => id !== event.turnId),
    },
    outputs: event.text === '' ? [] : [assistantRow(context, event.turnId, event.text, event.at, true)],
  };
}

/** The engine named its own session; the next turn resumes it. */
export function nameNative(
  context: SessionContext,
  event: SessionEventOf<'turn.native'>,
): Decision<SessionContext> {
  if (context.turn?.id !== event.turnId && !context.leftTurns.includes(event.turnId)) return {};
  const named: EngineSession = {
    id: excerpt(event.nativeId, 200),
    model: context.model,
    effortLevel: context.effort,
    lastSyncedAt: event.at,
  };
  const others = Object.entries(context.engineSessions)
    .filter(([engine]) => engine !== context.engine)
    .slice(1 - limits.engineSessionsMax);
  return { set: { engineSessions: Object.fromEntries([...others, [context.engine, named]]) } };
}

export function patch(
  context: SessionContext,
  event: SessionEventOf<'session.patch'>,
): Decision<SessionContext> {
  return {
    set: {
      lastActivity: event.at,
      ...(event.title === undefined ? {} : { title: event.title.trim() }),
      ...(event.engine === undefined ? {} : { engine: event.engine }),
      ...(event.model === undefined ? {} : { model: event.model }),
      ...(event.effort === undefined ? {} : { effort: event.effort }),
    },
    outputs: [publish('session:updated', { sessionId: context.id })],
  };
}

export const nativeId = (context: SessionContext): string | null =>
  context.engineSessions[context.engine]?.id ?? null;

function current(context: SessionContext): NonNullable<SessionContext['turn']> {
  // The machine never gets here: a fault, not a refusal
  if (context.turn === null) throw new Error(`session ${context.id} has no turn`);
  return context.turn;
}

function assistantRow(
  context: SessionContext,
  turnId: string,
  text: string,
  at: number,
  partial: boolean,
): WriteRow {
  const row: Record<string, Json> = {
    id: `${turnId}:answer`,
    role: 'assistant',
    content: text,
    timestamp: at,
  };
  if (partial) row['partial'] = true;
  return writeRow('messages', context.messages + 1, row);
}

const errorRow = (context: SessionContext, turnId: string, error: string, at: number): WriteRow =>
  writeRow('messages', context.messages + 1, {
    id: `${turnId}:error`,
    role: 'assistant',
    content: `Error: ${error}`,
    timestamp: at,
    meta: { kind: 'error' },
  });

const completed = (context: SessionContext, result: string, error: string | null): Output =>
  publish('session:completed', {
    sessionId: context.id,
    employee: context.employee,
    title: context.title,
    result: excerpt(result, 140),
    error,
  });

const started = (context: SessionContext): readonly Output[] =>
  context.workItemId === null
    ? []
    : [
        sendToActor(
          { kind: 'work-item', id: context.workItemId },
          { type: 'attempt.started', sessionId: context.id, employee: context.employee },
        ),
      ];

/** Its turn has a slot: what was found about its place is kept, and the session stays with the worker that runs it. */
export function begin(
  context: SessionContext,
  event: SessionEventOf<'turn.began'>,
): Decision<SessionContext> {
  if (context.turn === null || context.turn.id !== event.turnId) return {};
  const untrusted = event.untrusted ?? null;
  return {
    set: {
      turn: { ...context.turn, began: true, ...(event.silence && { silence: event.silence }) },
      ...(event.sandbox === undefined ? {} : { sandbox: event.sandbox }),
      ...(event.worker === undefined || context.placement === undefined
        ? {}
        : { placement: { ...context.placement, worker: event.worker } }),
      ...(untrusted === null && (context.untrusted ?? null) === null ? {} : { untrusted }),
    },
    outputs: [publish('session:updated', { sessionId: context.id })],
  };
}
