import type { Json, WriteRow, Decision } from '../outputs.js';
import type { WorkItemContext } from './context.js';
import { closed, sticky, type WorkStatus } from './edges.js';
import { record, type LedgerEntry } from './ledger.js';

/** One change of a work item as its ledger, version and members show it: with another status, or without. */

export interface Edge {
  readonly from: WorkStatus;
  readonly to: WorkStatus;
}
export interface Shift {
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly detail: { readonly [member: string]: Json | undefined } | null;
  readonly declared?: boolean;
  readonly set?: Partial<WorkItemContext>;
  readonly rows?: readonly WriteRow[];
}

export function shift(context: WorkItemContext, { from, to }: Edge, how: Shift): Decision<WorkItemContext> {
  const provenance = { source: context.source, department: context.department, assignee: context.assignee };
  const entry: LedgerEntry = {
    kind: to === 'escalated' ? 'escalated' : 'status_change',
    at: how.at,
    actor: how.actor,
    fromStatus: from,
    toStatus: to,
    detail: { ...how.detail, todoProvenance: provenance },
  };
  return recorded(
    context,
    how.action,
    how.at,
    {
      ...how.set,
      declared: how.declared === true && (to === 'blocked' || to === 'in_review'),
      closedAt: closed.includes(to) ? how.at : null,
      archived: to === 'cancelled',
      // A person who takes it back grants a fresh set of rounds; else a reopened item would escalate at its
      // first review.
      ...(sticky.includes(from) && !sticky.includes(to)
        ? { rounds: 0, ...(context.review ? { review: null } : {}) }
        : { rounds: context.rounds }),
      ...(to === 'backlog' ? { assignee: null } : {}),
    },
    [entry],
    how.rows,
  );
}

/** The status stays as it is. */
export function recorded(
  context: WorkItemContext,
  action: string,
  at: number,
  set: Partial<WorkItemContext>,
  entries: readonly LedgerEntry[],
  more: readonly WriteRow[] = [],
): Decision<WorkItemContext> {
  const { set: counted, outputs } = record(context, action, at, entries);
  return { set: { ...set, ...counted }, outputs: [...more, ...outputs] };
}
