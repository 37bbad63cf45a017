import { callerName, type Caller } from '../caller.js';
import { writeRow, afterwards, type WriteRow, type Decision } from '../outputs.js';
import { isoTimeOrNull } from '../sortable.js';
import {
  limits,
  trusted,
  type Attempt,
  type AttemptOutcome,
  type WorkItemContext,
  type WorkItemEventOf,
} from './context.js';
import type { WorkStatus } from './edges.js';
import type { LedgerEntry } from './ledger.js';
import { dueReview } from './review.js';
import { recorded, shift } from './shift.js';

/** The sessions that work on an item: how they begin and end, what they hand over, and where that leads it. */

type Item = Decision<WorkItemContext>;

/** A session began to work on it; `from` absent: the status stays as it is. */
export function link(
  context: WorkItemContext,
  event: WorkItemEventOf<'attempt.started'>,
  from?: WorkStatus,
): Item {
  const known = context.attempts.find(({ sessionId }) => sessionId === event.sessionId);
  const n = (context.runs ?? 0) + 1;
  const attempt: Attempt = {
    sessionId: event.sessionId,
    employee: event.employee,
    live: true,
    n,
    startedAt: event.at,
  };
  const linked: Item =
    known?.live === true
      ? {}
      : recorded(
          context,
          'delegated',
          event.at,
          {
            runs: n,
            attempts: linkedAttempts(context, attempt),
            firstAttemptEmployee: context.firstAttemptEmployee ?? event.employee,
          },
          known
            ? []
            : [
                {
                  kind: 'session_linked',
                  at: event.at,
                  actor: 'delegation',
                  detail: { sessionId: event.sessionId, employee: event.employee },
                },
              ],
          [attemptRow(attempt)],
        );
  if (from === undefined) return linked;
  const detail = { sessionId: event.sessionId };
  return afterwards(context, linked, (now) =>
    shift(
      now,
      { from, to: 'executing' },
      { at: event.at, actor: actorOf(event.sessionId), detail, action: 'status-transitioned' },
    ),
  );
}

/** A session's work on it ended; `to` absent: the status stays as it is. */
export function unlink(
  context: WorkItemContext,
  event: WorkItemEventOf<'attempt.ended'>,
  to?: WorkStatus,
): Item {
  const known = context.attempts.find(({ sessionId }) => sessionId === event.sessionId);
  if (known?.live !== true) return {};
  const attempts = context.attempts.map((attempt) =>
    attempt === known ? { ...attempt, live: false } : attempt,
  );
  const { costUsd } = event;
  const cost = costUsd == null ? {} : { costUsd: (context.costUsd ?? 0) + costUsd };
  const ended = [attemptRow(known, event)];
  const detail = {
    sessionId: event.sessionId,
    outcome: event.outcome,
    ...(event.summary ? { summary: event.summary.slice(0, 500) } : {}),
  };
  if (to === undefined)
    return recorded(
      context,
      'attempt-ended',
      event.at,
      { attempts, ...cost },
      [{ kind: 'note', at: event.at, actor: actorOf(event.sessionId), detail }],
      ended,
    );
  const actor = to === 'done' ? 'policy:trust' : actorOf(event.sessionId);
  const review = to === 'in_review' ? dueReview(context) : undefined;
  const set = { attempts, ...cost, ...(review === undefined ? {} : { review }) };
  return shift(
    { ...context, ...set },
    { from: 'executing', to },
    { at: event.at, actor, detail, action: 'status-transitioned', set, rows: ended },
  );
}

/**
 * What an attempt says about its own work, beside the row that says how it ended. Said again, it replaces
 * what was said.
 */
export function report(context: WorkItemContext, event: WorkItemEventOf<'attempt.reported'>): Item {
  const n = context.attempts.find(({ sessionId }) => sessionId === event.sessionId)?.n;
  if (n === undefined) return {};
  const { summary, changedFiles, verification, retryNotes } = event;
  const handoff = writeRow('handoffs', n, {
    summary: summary ?? null,
    changedFiles: changedFiles ?? [],
    verification: verification ?? null,
    retryNotes: retryNotes ?? null,
  });
  const entry: LedgerEntry = {
    kind: 'note',
    at: event.at,
    actor: actorOf(event.sessionId),
    detail: { action: 'handoff', sessionId: event.sessionId, changedFiles: changedFiles?.length ?? 0 },
  };
  return recorded(context, 'handoff', event.at, {}, [entry], [handoff]);
}

/** Where the end of an attempt leads an executing item; undefined while another attempt is still at work. */
export function leadsTo(
  context: WorkItemContext,
  event: { readonly sessionId: string; readonly outcome: AttemptOutcome },
): WorkStatus | undefined {
  const live = context.attempts.filter((attempt) => attempt.live);
  if (live.length !== 1 || live[0]?.sessionId !== event.sessionId) return undefined;
  if (event.outcome !== 'succeeded') return 'blocked';
  return trusted(context) ? 'done' : 'in_review';
}

/** The row of an attempt in the ledger of attempts; without `end` it is still at work. */
function attemptRow(attempt: Attempt, end?: WorkItemEventOf<'attempt.ended'>): WriteRow {
  return writeRow('attempts', attempt.n ?? 0, {
    sessionId: attempt.sessionId,
    employee: attempt.employee,
    startedAt: isoTimeOrNull(attempt.startedAt ?? null),
    endedAt: isoTimeOrNull(end?.at ?? null),
    outcome: end?.outcome ?? null,
    summary: end?.summary || null,
    changedFiles: end?.changedFiles?.slice(0, limits.changedFilesMax) ?? null,
    costUsd: end?.costUsd ?? null,
  });
}

/** The newest attempt last; at most so many are remembered, live ones before ended ones. */
function linkedAttempts(context: WorkItemContext, attempt: Attempt): readonly Attempt[] {
  const others = context.attempts.filter(({ sessionId }) => sessionId !== attempt.sessionId);
  if (others.length < limits.attemptsMax) return [...others, attempt];
  const oldest = others.findIndex(({ live }) => !live);
  return [...others.filter((_, place) => place !== Math.max(0, oldest)), attempt];
}

const actorOf = (sessionId: string): string => callerName({ type: 'session', id: sessionId } as Caller);
