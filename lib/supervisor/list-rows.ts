import type { IndexRow, Kind } from '../../actors/contracts.js';
import type { Op } from '../store/contract.js';
import { keys } from '../store/keys.js';
import { assertJson } from './codec.js';
import { metaOf, type ActorState } from './actor-state.js';

/** What a step changes in the lists of its kind: the rows that go, come or read differently. */
export function listRows(
  kind: Kind,
  id: string,
  before: ActorState | undefined,
  after: ActorState | undefined,
  ops: Op[],
): void {
  if (kind.index === undefined) return;
  const own = { kind: kind.kind, id };
  const old = before === undefined ? [] : kind.index(before.snapshot, metaOf(own, before));
  const now = after === undefined ? [] : kind.index(after.snapshot, metaOf(own, after));
  const place = ({ index, key }: IndexRow): string => keys.list(kind.kind, index, key, id);
  for (const row of old) if (!now.some((other) => samePlace(row, other))) ops.push([place(row), null]);
  for (const row of now) {
    const text = textOf(row);
    const earlier = old.find((other) => samePlace(row, other));
    if (earlier !== undefined && textOf(earlier) === text) continue;
    if (row.row !== undefined) assertJson(row.row, `the row of the list "${row.index}"`);
    ops.push([place(row), text]);
  }
}

/** The keys of all rows that an actor has in the lists of its kind. */
export function placesInLists(kind: Kind, id: string, live: ActorState): ReadonlySet<string> {
  const rows = kind.index?.(live.snapshot, metaOf({ kind: kind.kind, id }, live)) ?? [];
  return new Set(rows.map(({ index, key }) => keys.list(kind.kind, index, key, id)));
}

/** What a step changes in the totals of its kind. */
export function changeTotals(
  kind: Kind,
  id: string,
  before: ActorState | undefined,
  after: ActorState | undefined,
  totals: Map<string, number>,
): void {
  if (kind.totals === undefined) return;
  const own = { kind: kind.kind, id };
  const old = before === undefined ? [] : kind.totals(before.snapshot, metaOf(own, before));
  const now = after === undefined ? [] : kind.totals(after.snapshot, metaOf(own, after));
  const change = (name: string, by: number): void => {
    const key = keys.count(kind.kind, name);
    totals.set(key, (totals.get(key) ?? 0) + by);
  };
  for (const name of old) if (!now.includes(name)) change(name, -1);
  for (const name of now) if (!old.includes(name)) change(name, 1);
}

const samePlace = (a: IndexRow, b: IndexRow): boolean => a.key === b.key && a.index === b.index;
const textOf = ({ row }: IndexRow): string => (row === undefined ? '1' : JSON.stringify(row));
