import { callerName } from '../caller.js';
import { publish, afterwards, type Decision } from '../outputs.js';
import { maxRounds, type WorkItemContext, type WorkItemEventOf } from './context.js';
import { factsOf } from './authority.js';
import type { WorkStatus } from './edges.js';
import { rows, type LedgerEntry } from './ledger.js';
import { toWorker, workerOf } from './rework.js';
import { recorded, shift, type Edge } from './shift.js';

/** What moving does: by hand, by review, by archiving, by assigning. */

type Item = Decision<WorkItemContext>;

/** What the ledger's first row says, which the first context counts already. */
export function created(context: WorkItemContext): Item {
  const toStatus: WorkStatus = context.assignee === null ? 'backlog' : 'assigned';
  const entry = {
    kind: 'created' as const,
    at: context.createdAt,
    actor: context.createdBy,
    toStatus,
    detail: { source: context.source, sourceRef: context.sourceRef },
  };
  const outputs = [
    ...rows(context.id, 0, [entry]),
    publish('company:changed', {
      entity: 'todo',
      action: 'created',
      id: context.id,
      version: context.version,
    }),
  ];
  return { outputs };
}

/** Moved by hand. What is declared so (blocked, in review) attempts do not overwrite. */
export function move(context: WorkItemContext, event: WorkItemEventOf<'item.move'>, edge: Edge): Item {
  return shift(context, edge, {
    at: event.at,
    actor: callerName(event.by),
    detail: noteOf(event.note),
    declared: true,
    action: 'status-transitioned',
  });
}

/** How a review went against the work. */
export interface Verdict {
  readonly at: number;
  readonly actor: string;
  readonly note?: string | undefined;
  readonly rejected: boolean;
}

/** Review sends it back: one round more, and the session that did the work goes on. */
export function bounce(context: WorkItemContext, verdict: Verdict): Item {
  const rounds = context.rounds + 1;
  const bounced = { ...context, rounds };
  const worker = workerOf(context);
  const detail = {
    bounce: true,
    rounds,
    rejected: verdict.rejected,
    ...(verdict.note ? { critique: verdict.note } : {}),
    ...(worker ? { sentTo: worker.sessionId } : {}),
  };
  const { set = {}, outputs = [] } = shift(
    bounced,
    { from: 'in_review', to: 'executing' },
    { ...verdict, detail, action: 'status-transitioned' },
  );
  return { set, outputs: [...outputs, ...toWorker(bounced, verdict)] };
}

/** The rounds are used up: a person must look. */
export function exhaust(context: WorkItemContext, verdict: Verdict): Item {
  const rounds = maxRounds(context);
  const detail = {
    reason: 'max-rounds-exhausted',
    maxRounds: rounds,
    rounds,
    bounce: true,
    rejected: verdict.rejected,
    ...(verdict.note ? { critique: verdict.note } : {}),
  };
  return shift(
    { ...context, rounds },
    { from: 'in_review', to: 'escalated' },
    { ...verdict, detail, action: 'status-transitioned' },
  );
}

export const roundsLeft = (context: WorkItemContext): boolean => context.rounds + 1 < maxRounds(context);

/** An approval in review. */
export function complete(context: WorkItemContext, event: WorkItemEventOf<'approval.given'>): Item {
  return shift(
    context,
    { from: 'in_review', to: 'done' },
    {
      at: event.at,
      actor: event.actor,
      detail: { approved: true, ...noteOf(event.note) },
      action: 'status-transitioned',
    },
  );
}

export function archive(
  context: WorkItemContext,
  event: WorkItemEventOf<'item.archive'>,
  from: WorkStatus,
): Item {
  const detail = { action: 'archive', ...noteOf(event.note) };
  return shift(
    context,
    { from, to: 'cancelled' },
    { at: event.at, actor: callerName(event.by), detail, action: 'archived' },
  );
}

export function assign(
  context: WorkItemContext,
  event: WorkItemEventOf<'item.assign'>,
  from: WorkStatus,
): Item {
  const department = event.department ?? factsOf(event).named?.department ?? context.department;
  if (context.assignee === event.assignee && context.department === department) return {};
  const set = { assignee: event.assignee, department };
  const detail = { assignee: event.assignee, previous: context.assignee };
  if (from === 'backlog')
    return shift(
      { ...context, ...set },
      { from, to: 'assigned' },
      { at: event.at, actor: callerName(event.by), detail, action: 'assigned', set },
    );
  return recorded(context, 'assigned', event.at, set, [
    { kind: 'note', at: event.at, actor: callerName(event.by), detail: { action: 'assign', ...detail } },
  ]);
}

export function edit(context: WorkItemContext, event: WorkItemEventOf<'item.edit'>, from: WorkStatus): Item {
  const set = {
    ...event.patch,
    ...(event.patch.title === undefined ? {} : { title: event.patch.title.trim() }),
  };
  const edited = { ...context, ...set };
  const bounded = { ...set, rounds: Math.min(context.rounds, maxRounds(edited)) };
  const entry: LedgerEntry = {
    kind: 'metadata_edited',
    at: event.at,
    actor: callerName(event.by),
    detail: { fields: Object.keys(event.patch) },
  };
  const decision = recorded(context, 'metadata-updated', event.at, bounded, [entry]);
  if (from !== 'backlog' || edited.assignee === null) return decision;
  return afterwards(context, decision, (now) =>
    shift(
      now,
      { from, to: 'assigned' },
      { at: event.at, actor: callerName(event.by), detail: null, action: 'assigned' },
    ),
  );
}

const noteOf = (note: string | undefined): { readonly note?: string } =>
  note === undefined || note.trim() === '' ? {} : { note: note.trim() };
