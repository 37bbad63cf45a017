import type { App } from '../app.js';
import { cursorOf } from '../page-after.js';
import type { Place } from './merge-lists.js';
import type { Row } from './work-item-ranges.js';
import type { Json } from '../../../machines/outputs.js';

/** A page of work items as it is answered, and the rows that it is made of. */
export interface WorkItemsPage {
  readonly workItems: readonly Json[];
  readonly total: number;
  readonly totals: Readonly<Record<string, number>>;
  readonly limit: number;
  readonly offset: number;
  readonly nextOffset: number | null;
  readonly nextCursor: string | null;
}

/** Where it stands is that of the list that was read, though the row may be newer. */
export type Listed = readonly [id: string, row: Row, key: string];

/** Rows in the order of their places. An item that moved in between is read as it is now. */
export async function rowsAt(app: App, places: readonly Place[]): Promise<readonly Listed[]> {
  const rows = await app.supervisor.rowsAt('work-item', 'all', places);
  const found = await Promise.all(
    places.map(async ({ id, key }, at): Promise<Listed | undefined> => {
      const row = rows[at] ?? (await app.supervisor.get('work-item', id))?.view;
      return row === undefined ? undefined : [id, row as Row, key];
    }),
  );
  return found.filter((each) => each !== undefined);
}

export function answer(
  { limit, offset }: { readonly limit: number; readonly offset: number },
  rows: readonly Listed[],
  total: number,
  totals: Readonly<Record<string, number>>,
): WorkItemsPage {
  const end = offset + limit;
  return {
    workItems: rows.map(([id, row]) => listed(id, row)),
    total,
    totals,
    limit,
    offset,
    nextOffset: end < total ? end : null,
    nextCursor: end < total ? cursorBehind(rows) : null,
  };
}

export function cursorBehind(rows: readonly Listed[]): string | null {
  const last = rows.at(-1);
  return last === undefined ? null : cursorOf({ id: last[0], key: last[2] });
}

/** The compact shape of a list. */
export function listed(id: string, row: Row): Json {
  const compact: Record<string, Json> = {};
  for (const member of listMembers) compact[member] = row[member] ?? null;
  compact['id'] = id;
  const { sessionRef } = row;
  if (typeof sessionRef === 'string')
    compact['sessionRef'] = { sessionId: sessionRef, ref: `session:${sessionRef}` };
  return compact;
}

export const listMembers = [
  'id',
  'title',
  'status',
  'version',
  'assignee',
  'department',
  'source',
  'sourceRef',
  'rank',
  'approvalState',
  'approvalRequest',
  'approvalRef',
  'approvalTarget',
  'approvalEscalatedAt',
  'sessionRef',
  'attemptCount',
  'costUsd',
  'statusSince',
  'updatedAt',
] as const;
