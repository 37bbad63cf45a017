import { callerName, type Caller } from '../caller.js';
import { fnv1a } from '../text.js';
import { publish, writeRow, type Json, type Output } from '../outputs.js';
import { isoTime } from '../sortable.js';
import { refuse, type Refusal } from '../refusals.js';
import { limits, type WorkItemContext } from './context.js';
import type { WorkStatus } from './edges.js';

/**
 * The append-only ledger of a work item: what happened, who did it, why. One row per event in the collection
 * `events`.
 */

export type LedgerKind =
  | 'created'
  | 'status_change'
  | 'note'
  | 'session_linked'
  | 'approval_requested'
  | 'approval_decided'
  | 'escalated'
  | 'metadata_edited'
  | 'comment_added'
  | 'comment_edited'
  | 'comment_deleted'
  | 'label_changed'
  | 'relation_added'
  | 'relation_removed'
  | 'child_created';

export interface LedgerEntry {
  readonly kind: LedgerKind;
  readonly at: number;
  readonly actor: string;
  readonly fromStatus?: WorkStatus | null;
  readonly toStatus?: WorkStatus | null;
  readonly detail?: { readonly [member: string]: Json | undefined } | null;
}

/**
 * What the entries leave behind: rows, the new counter, version and time, and one frame that says what
 * happened.
 */
export function record(
  context: WorkItemContext,
  action: string,
  at: number,
  entries: readonly LedgerEntry[],
): { readonly set: Partial<WorkItemContext>; readonly outputs: readonly Output[] } {
  const version = context.version + 1;
  return {
    set: {
      events: context.events + entries.length,
      version,
      updatedAt: at,
      ...(entries.some(({ fromStatus, toStatus }) => toStatus != null && toStatus !== fromStatus) && {
        statusAt: at,
      }),
    },
    outputs: [
      ...rows(context.id, context.events, entries),
      publish('company:changed', { entity: 'todo', action, id: context.id, version }),
    ],
  };
}

/** The rows of `entries`, after the first `before` ones. */
export function rows(workItemId: string, before: number, entries: readonly LedgerEntry[]): readonly Output[] {
  return entries.map((entry, place) => {
    const n = before + 1 + place;
    return writeRow('events', n, {
      id: eventId(workItemId, n),
      workItemId,
      kind: entry.kind,
      fromStatus: entry.fromStatus ?? null,
      toStatus: entry.toStatus ?? null,
      actor: entry.actor,
      detail: entry.detail ?? null,
      createdAt: isoTime(entry.at),
    });
  });
}

/** An employee is named in the ledger of approvals; everybody else as a caller. */
export const decider = (by: Caller): string =>
  by.type === 'session' && by.employee !== null ? by.employee : callerName(by);

/**
 * `wie_` and 12 hexadecimal digits, made of the item's id and the entry's number: the same entry always has
 * the same id, and two entries of one item never do below 65,536 of them (the last four digits count).
 */
function eventId(id: string, n: number): string {
  const digits = (value: number, width: number): string =>
    value.toString(16).padStart(width, '0').slice(-width);
  return `wie_${digits(fnv1a(`${id}#${n}`), 8)}${digits(n % 0x10000, 4)}`;
}

/** The note of a change is an entry's detail. A host's program in plain JavaScript may give what is no text. */
export const fitNote = (note: unknown): Refusal | undefined => {
  if (note === undefined) return undefined;
  if (typeof note !== 'string') return refuse('BAD_REQUEST', { path: 'note' }, 'note must be text.');
  return note.length > limits.noteCharsMax
    ? refuse(
        'PAYLOAD_TOO_LARGE',
        { path: 'note', charsMax: limits.noteCharsMax },
        `note is longer than ${limits.noteCharsMax} characters.`,
      )
    : undefined;
};

export const blank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === '';
