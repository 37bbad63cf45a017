import type { Json } from '../../../machines/outputs.js';
import { sortable } from '../../../machines/sortable.js';
import type { Waiting } from '../../../machines/waiting.js';
import { stateNames } from '../../../machines/state-names.js';
import type { Op, Store } from '../../store/contract.js';
import { keys, prefix } from '../../store/keys.js';
import { countedKey } from '../totals.js';
import { decodeState, own, setOwn, assertJson } from './codec.js';
import { haltedPlace } from '../inspection-answers.js';
import type { IndexRow, Kind } from '../../../actors/contracts.js';
import { metaOf, type ActorState, type StatePlaces } from './actor-state.js';

/**
 * In which states an actor stands, and since when: one small row per innermost state, written only when it
 * changes, so that "the hundred that wait longest" is one read however many there are. How many there are is
 * counted in the same commit. An actor's record keeps its own places: what was written for it is known even
 * after its machine has changed. Beside it the rows of lists and totals that the kind declares.
 */
interface Halt {
  readonly at: number;
  readonly reason: string;
}

/** The name under which all actors of a kind are counted. */
export const allPlaces = '~all';
/** Totals of places stand beside those of `Kind.counts`, under a name that no kind can have. */
export const placeTotals = (kind: string): string => `${kind}~places`;

/** Where an actor stands now; the very same object when nothing has changed. */
export function placesOf(
  value: Json,
  halted: Halt | null,
  before: StatePlaces | undefined,
  at: number,
): StatePlaces {
  const names = typeof value === 'string' ? undefined : stateNames(value);
  if (before !== undefined && halted === null) {
    if (
      names === undefined
        ? Object.hasOwn(before, value as string) && single(before)
        : names.every((name) => Object.hasOwn(before, name)) && countOf(before) === names.length
    )
      return before;
  }
  const places: Record<string, number> = {};
  for (const name of names ?? [value as string])
    setOwn(places, name, before === undefined ? at : (own(before, name) ?? at));
  if (halted !== null) places[haltedPlace] = halted.at;
  return places;
}

/** Their keys, made once: there are as many as states. */
const totalKeys = new Map<string, Map<string, string>>();
function totalKey(kind: string, name: string): string {
  let keysOfKind = totalKeys.get(kind);
  if (keysOfKind === undefined) totalKeys.set(kind, (keysOfKind = new Map<string, string>()));
  let key = keysOfKind.get(name);
  if (key === undefined) keysOfKind.set(name, (key = keys.count(placeTotals(kind), name)));
  return key;
}

/** The rows that a change of places asks for, and the changes of totals. */
export function move(
  kind: string,
  id: string,
  before: StatePlaces | undefined,
  after: StatePlaces,
  ops: Op[],
  totals: Map<string, number>,
): void {
  if (before === after) return;
  const count = (name: string, change: number): void => {
    const key = totalKey(kind, name);
    totals.set(key, (totals.get(key) ?? 0) + change);
  };
  if (before === undefined) count(allPlaces, 1);
  for (const name in before) {
    if (own(after, name) === before[name]) continue;
    ops.push([keys.place(kind, name, before[name] as number, id), null]);
    count(name, -1);
  }
  for (const name in after) {
    if (before !== undefined && after[name] === own(before, name)) continue;
    ops.push([keys.place(kind, name, after[name] as number, id), '1']);
    count(name, 1);
  }
}

/** What is left to take back when an actor is forgotten. */
export function leave(
  kind: string,
  id: string,
  before: StatePlaces,
  ops: Op[],
  totals: Map<string, number>,
): void {
  move(kind, id, before, {}, ops, totals);
  const key = totalKey(kind, allPlaces);
  totals.set(key, (totals.get(key) ?? 0) - 1);
}

const pageSize = 500;

/**
 * Places for the actors of a store that was written before there were any: once, before anything else is
 * done. O(actors). The totals come last and tell that it is done; a fresh store gets its first ones with its
 * first actor, and no write here.
 */
export async function settle(store: Store): Promise<void> {
  const [anybody] = await store.page({ ...prefix('a/'), limit: 1 });
  if (anybody === undefined || (await isSettled(store))) return;
  const totals = new Map<string, number>();
  for (let range = prefix('a/') as { gte: string; lt: string }; ;) {
    const page = await store.page({ ...range, limit: pageSize });
    const ops: Op[] = [];
    for (const [, text] of page) {
      const stored = JSON.parse(text) as { kind: string; id: string } & Parameters<typeof placesOfRecord>[0];
      move(stored.kind, stored.id, undefined, placesOfRecord(stored), ops, totals);
    }
    const last = page.at(-1);
    const done = last === undefined || page.length < pageSize;
    if (done) ops.push(...[...totals].map(([key, count]): Op => [key, String(count)]));
    await store.write({ first: store.head.seq + 1, last: store.head.seq, chain: store.head.chain, ops });
    if (done) return;
    range = { ...range, gte: `${last[0]}\x00` };
  }
}

async function isSettled(store: Store): Promise<boolean> {
  if ((await store.get(countedKey)) !== undefined) return true; // its first totals may be in the log as yet
  for (let range = prefix('n/') as { gte: string; lt: string }; ;) {
    const page = await store.page({ ...range, keysOnly: true, limit: pageSize });
    if (page.some(([key]) => key.endsWith(`~places/${allPlaces}`))) return true;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return false;
    range = { ...range, gte: `${last[0]}\x00` };
  }
}

/** The places of a stored record, also of one that was written before records kept them. */
export function placesOfRecord(stored: {
  readonly places?: StatePlaces;
  readonly updatedAt: number;
  readonly halted?: Halt | null;
  readonly state: unknown;
}): StatePlaces {
  return (
    stored.places ??
    placesOf(decodeState(stored.state).value, stored.halted ?? null, undefined, stored.updatedAt)
  );
}

function single(places: StatePlaces): boolean {
  let count = 0;
  for (const _ in places) if (++count > 1) return false;
  return true;
}

const countOf = (places: StatePlaces): number => Object.keys(places).length;

/** What a step changes in the lists of its kind: the rows that go, come or read differently. */
export function listRows(
  kind: Kind,
  id: string,
  before: ActorState | undefined,
  after: ActorState | undefined,
  ops: Op[],
): void {
  if (kind.index === undefined && kind.waitingFor === undefined) return;
  const old = placesInLists(kind, id, before);
  const now = placesInLists(kind, id, after);
  for (const key of old.keys()) if (!now.has(key)) ops.push([key, null]);
  for (const [key, place] of now) {
    const text = textOf(place);
    const earlier = old.get(key);
    if (earlier !== undefined && textOf(earlier) === text) continue;
    if (place.row !== undefined) assertJson(place.row, `the row of the list "${place.index}"`);
    ops.push([key, text]);
  }
}

/** By key: all rows of an actor in the lists of its kind, and one for each thing that it waits for. */
export function placesInLists(
  kind: Kind,
  id: string,
  state: ActorState | undefined,
): ReadonlyMap<string, IndexRow> {
  const places = new Map<string, IndexRow>();
  if (state === undefined) return places;
  for (const place of kind.index?.(state.snapshot, metaOf({ kind: kind.kind, id }, state)) ?? []) {
    const { index, key } = Object(place) as Partial<IndexRow>;
    if (typeof index !== 'string' || typeof key !== 'string')
      throw new TypeError(`index of the kind "${kind.kind}" must answer rows of { index, key }, both texts`);
    places.set(keys.list(kind.kind, index, key, id), place);
  }
  for (const waiting of waitingFor(kind, id, state)) {
    const place = { index: waitingList, key: waitingKey(waiting), row: waiting };
    places.set(keys.list(kind.kind, place.index, place.key, id), place);
  }
  return places;
}

const textOf = ({ row }: IndexRow): string => (row === undefined ? '1' : JSON.stringify(row));

/** What an actor waits for, as its kind says. */
export const waitingFor = (kind: Kind, id: string, state: ActorState): readonly Waiting[] =>
  kind.waitingFor?.(state.snapshot, metaOf({ kind: kind.kind, id }, state)) ?? [];

/** The list of what actors wait for, longest waiting first. No kind has a list of this name. */
export const waitingList = '~waiting';

/** `waitingKey(waiting)`: sorts by `since`; unique for an actor. */
export const waitingKey = ({ since, id }: Pick<Waiting, 'since' | 'id'>): string =>
  `${sortable(since)}/${id}`;

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
