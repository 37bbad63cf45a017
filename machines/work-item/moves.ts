import { callerName, type Caller } from '../caller.js';
import { afterwards, type Deed } from '../deed.js';
import { announce, keep, type Json, type KeepRow, type Wish } from '../ground.js';
import { isoTimeOrNull } from '../iso-time.js';
import { factsOf, limits, maxRounds, trusted, type Attempt, type AttemptOutcome, type WorkItemContext, type WorkItemEventOf } from './context.js';
import { closed, sticky, type WorkStatus } from './edges.js';
import { record, rows, type LedgerEntry } from './ledger.js';
import { dueReview } from './review.js';

/** What moving does: by hand, by review, by archiving, by assigning, and by the attempts that work on an item. */

export interface Edge { readonly from: WorkStatus; readonly to: WorkStatus }
type Item = Deed<WorkItemContext>;

/** What the ledger's first row says, which the first context counts already. */
export function born(context: WorkItemContext): readonly Wish[] {
  const toStatus: WorkStatus = context.assignee === null ? 'backlog' : 'assigned';
  const entry = { kind: 'created' as const, at: context.createdAt, actor: context.createdBy, toStatus, detail: { source: context.source, sourceRef: context.sourceRef } };
  return [...rows(context.id, 0, [entry]), announce('company:changed', { entity: 'todo', action: 'created', id: context.id, version: context.version })];
}

/** Somebody moved it. What they declare (blocked, in review) attempts do not overwrite. */
export function move(context: WorkItemContext, event: WorkItemEventOf<'item.move'>, edge: Edge): Item {
  return shift(context, edge, { at: event.at, actor: callerName(event.by), detail: noteOf(event.note), declared: true, action: 'status-transitioned' });
}

/** Review sends it back: one round more. */
export function bounce(context: WorkItemContext, verdict: { at: number; actor: string; note?: string | undefined; rejected: boolean }): Item {
  const rounds = context.rounds + 1;
  const detail = { bounce: true, rounds, rejected: verdict.rejected, ...(verdict.note ? { critique: verdict.note } : {}) };
  return shift({ ...context, rounds }, { from: 'in_review', to: 'executing' }, { ...verdict, detail, action: 'status-transitioned' });
}

/** The rounds are used up: a person must look. */
export function exhaust(context: WorkItemContext, verdict: { at: number; actor: string; note?: string | undefined; rejected: boolean }): Item {
  const rounds = maxRounds(context);
  const detail = { reason: 'max-rounds-exhausted', maxRounds: rounds, rounds, bounce: true, rejected: verdict.rejected, ...(verdict.note ? { critique: verdict.note } : {}) };
  return shift({ ...context, rounds }, { from: 'in_review', to: 'escalated' }, { ...verdict, detail, action: 'status-transitioned' });
}

export const roundsLeft = (context: WorkItemContext): boolean => context.rounds + 1 < maxRounds(context);

export function pass(context: WorkItemContext, event: WorkItemEventOf<'approval.given'>): Item {
  return shift(context, { from: 'in_review', to: 'done' }, { at: event.at, actor: event.actor, detail: { approved: true, ...noteOf(event.note) }, action: 'status-transitioned' });
}

export function archive(context: WorkItemContext, event: WorkItemEventOf<'item.archive'>, from: WorkStatus): Item {
  const detail = { action: 'archive', ...noteOf(event.note) };
  return shift(context, { from, to: 'cancelled' }, { at: event.at, actor: callerName(event.by), detail, action: 'archived' });
}

export function assign(context: WorkItemContext, event: WorkItemEventOf<'item.assign'>, from: WorkStatus): Item {
  const department = event.department ?? factsOf(event).named?.department ?? context.department;
  if (context.assignee === event.assignee && context.department === department) return {};
  const set = { assignee: event.assignee, department };
  const detail = { assignee: event.assignee, previous: context.assignee };
  if (from === 'backlog') return shift({ ...context, ...set }, { from, to: 'assigned' }, { at: event.at, actor: callerName(event.by), detail, action: 'assigned', set });
  return recorded(context, 'assigned', event.at, set, [{ kind: 'note', at: event.at, actor: callerName(event.by), detail: { action: 'assign', ...detail } }]);
}

export function edit(context: WorkItemContext, event: WorkItemEventOf<'item.edit'>, from: WorkStatus): Item {
  const set = { ...event.patch, ...(event.patch.title === undefined ? {} : { title: event.patch.title.trim() }) };
  const edited = { ...context, ...set };
  const bounded = { ...set, rounds: Math.min(context.rounds, maxRounds(edited)) };
  const entry: LedgerEntry = { kind: 'metadata_edited', at: event.at, actor: callerName(event.by), detail: { fields: Object.keys(event.patch) } };
  const deed = recorded(context, 'metadata-updated', event.at, bounded, [entry]);
  if (from !== 'backlog' || edited.assignee === null) return deed;
  return afterwards(context, deed, (now) => shift(now, { from, to: 'assigned' }, { at: event.at, actor: callerName(event.by), detail: null, action: 'assigned' }));
}

/** A session began to work on it; `from` absent: the status stays as it is. */
export function link(context: WorkItemContext, event: WorkItemEventOf<'attempt.started'>, from?: WorkStatus): Item {
  const known = context.attempts.find(({ sessionId }) => sessionId === event.sessionId);
  const n = (context.runs ?? 0) + 1;
  const attempt: Attempt = { sessionId: event.sessionId, employee: event.employee, live: true, n, startedAt: event.at };
  const linked: Item = known?.live === true ? {} : recorded(context, 'delegated', event.at, {
    runs: n,
    attempts: linkedAttempts(context, attempt),
    firstAttemptEmployee: context.firstAttemptEmployee ?? event.employee,
  }, known ? [] : [{ kind: 'session_linked', at: event.at, actor: 'delegation', detail: { sessionId: event.sessionId, employee: event.employee } }], [attemptRow(attempt)]);
  if (from === undefined) return linked;
  const detail = { sessionId: event.sessionId };
  return afterwards(context, linked, (now) => shift(now, { from, to: 'executing' }, { at: event.at, actor: actorOf(event.sessionId), detail, action: 'status-transitioned' }));
}

/** A session's work on it ended; `to` absent: the status stays as it is. */
export function unlink(context: WorkItemContext, event: WorkItemEventOf<'attempt.ended'>, to?: WorkStatus): Item {
  const known = context.attempts.find(({ sessionId }) => sessionId === event.sessionId);
  if (known?.live !== true) return {};
  const attempts = context.attempts.map((attempt) => (attempt === known ? { ...attempt, live: false } : attempt));
  const ended = [attemptRow(known, event)];
  const detail = { sessionId: event.sessionId, outcome: event.outcome, ...(event.summary ? { summary: event.summary.slice(0, 500) } : {}) };
  if (to === undefined) return recorded(context, 'attempt-ended', event.at, { attempts }, [{ kind: 'note', at: event.at, actor: actorOf(event.sessionId), detail }], ended);
  const actor = to === 'done' ? 'policy:trust' : actorOf(event.sessionId);
  const review = to === 'in_review' ? dueReview(context) : undefined;
  const set = { attempts, ...(review === undefined ? {} : { review }) };
  return shift({ ...context, ...set }, { from: 'executing', to }, { at: event.at, actor, detail, action: 'status-transitioned', set, rows: ended });
}

/** What an attempt says about its own work, beside the row that tells how it ended. Said again, it replaces what was said. */
export function report(context: WorkItemContext, event: WorkItemEventOf<'attempt.reported'>): Item {
  const n = context.attempts.find(({ sessionId }) => sessionId === event.sessionId)?.n;
  if (n === undefined) return {};
  const { summary, changedFiles, verification, retryNotes } = event;
  const handoff = keep('handoffs', n, { summary: summary ?? null, changedFiles: changedFiles ?? [], verification: verification ?? null, retryNotes: retryNotes ?? null });
  const entry: LedgerEntry = { kind: 'note', at: event.at, actor: actorOf(event.sessionId), detail: { action: 'handoff', sessionId: event.sessionId, changedFiles: changedFiles?.length ?? 0 } };
  return recorded(context, 'handoff', event.at, {}, [entry], [handoff]);
}

/** The row of an attempt in the ledger of attempts; without `end` it is still at work. */
function attemptRow(attempt: Attempt, end?: WorkItemEventOf<'attempt.ended'>): KeepRow {
  return keep('attempts', attempt.n ?? 0, {
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

/** Where the end of an attempt leads an executing item; undefined while another attempt is still at work. */
export function leadsTo(context: WorkItemContext, event: { readonly sessionId: string; readonly outcome: AttemptOutcome }): WorkStatus | undefined {
  const live = context.attempts.filter((attempt) => attempt.live);
  if (live.length !== 1 || live[0]?.sessionId !== event.sessionId) return undefined;
  if (event.outcome !== 'succeeded') return 'blocked';
  return trusted(context) ? 'done' : 'in_review';
}

interface Shift {
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly detail: { readonly [member: string]: Json | undefined } | null;
  readonly declared?: boolean;
  readonly set?: Partial<WorkItemContext>;
  readonly rows?: readonly KeepRow[];
}

function shift(context: WorkItemContext, { from, to }: Edge, how: Shift): Item {
  const provenance = { source: context.source, department: context.department, assignee: context.assignee };
  const entry: LedgerEntry = {
    kind: to === 'escalated' ? 'escalated' : 'status_change',
    at: how.at, actor: how.actor, fromStatus: from, toStatus: to,
    detail: { ...how.detail, todoProvenance: provenance },
  };
  return recorded(context, how.action, how.at, {
    ...how.set,
    declared: how.declared === true && (to === 'blocked' || to === 'in_review'),
    closedAt: closed.includes(to) ? how.at : null,
    archived: to === 'cancelled',
    // A person who takes it back grants a fresh set of rounds; else a reopened item would escalate at its first review.
    ...(sticky.includes(from) && !sticky.includes(to) ? { rounds: 0, ...(context.review ? { review: null } : {}) } : { rounds: context.rounds }),
    ...(to === 'backlog' ? { assignee: null } : {}),
  }, [entry], how.rows);
}

function recorded(context: WorkItemContext, action: string, at: number, set: Partial<WorkItemContext>, entries: readonly LedgerEntry[], more: readonly KeepRow[] = []): Item {
  const { set: counted, wishes } = record(context, action, at, entries);
  return { set: { ...set, ...counted }, wishes: [...more, ...wishes] };
}

/** The newest attempt last; at most so many are remembered, live ones before ended ones. */
function linkedAttempts(context: WorkItemContext, attempt: Attempt): readonly Attempt[] {
  const others = context.attempts.filter(({ sessionId }) => sessionId !== attempt.sessionId);
  if (others.length < limits.attemptsMax) return [...others, attempt];
  const oldest = others.findIndex(({ live }) => !live);
  return [...others.filter((_, place) => place !== Math.max(0, oldest)), attempt];
}

const noteOf = (note: string | undefined): { readonly note?: string } => (note === undefined || note.trim() === '' ? {} : { note: note.trim() });
const actorOf = (sessionId: string): string => callerName({ type: 'session', id: sessionId } as Caller);
