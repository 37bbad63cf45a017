import type { Kind } from '../../actors/contracts.js';
import { chainIn } from '../../lib/store/chain.js';
import type { Store } from '../../lib/store/contract.js';
import { keys, partsOf } from '../../lib/store/keys.js';
import { metaOf, type ActorState } from '../../lib/supervisor/draft/actor-state.js';
import { waitingKey, waitingList } from '../../lib/supervisor/draft/indexes.js';
import { decodeRecord } from '../../lib/supervisor/draft/stored-form.js';
import { must } from './model.js';
import type { Tables } from './tables.js';

/** What must hold between the rows of a store after every group, whatever happened before. */
export async function checkRows(store: Store, kinds: readonly Kind[]): Promise<void> {
  // What rests after a failure goes on by itself: a commit between two pages is no fault (seed 114993)
  let head = store.head;
  let read = await rowsOf(store);
  for (let tries = 0; store.head.seq !== head.seq && tries < 10; tries += 1) {
    ({ head } = store);
    read = await rowsOf(store);
  }
  const rows = counted(read);
  const records = recordsOf(rows, kinds);
  checkLog(rows, records, head);
  const expected = new Map<string, string | undefined>();
  const totals = new Map<string, number>();
  const tally = (key: string): void => void totals.set(key, (totals.get(key) ?? 0) + 1);
  const beingListed = kindsBeingListed(rows, kinds);
  for (const { kind, id, state } of records.values()) {
    const meta = metaOf({ kind: kind.kind, id }, state);
    if (!beingListed.has(kind.kind))
      for (const { index, key, row } of kind.index?.(state.snapshot, meta) ?? [])
        expected.set(keys.list(kind.kind, index, key, id), row === undefined ? '1' : JSON.stringify(row));
    if (!beingListed.has(kind.kind))
      for (const waiting of kind.waitingFor?.(state.snapshot, meta) ?? [])
        expected.set(keys.list(kind.kind, waitingList, waitingKey(waiting), id), undefined);
    if (!beingListed.has(kind.kind))
      for (const name of kind.totals?.(state.snapshot, meta) ?? []) tally(keys.count(kind.kind, name));
    tally(keys.count(`${kind.kind}~places`, '~all'));
    for (const [name, since] of Object.entries(state.places)) {
      expected.set(keys.place(kind.kind, name, since, id), undefined);
      tally(keys.count(`${kind.kind}~places`, name));
    }
    for (const [timer, { due }] of Object.entries(state.timers))
      expected.set(keys.timer(due, kind.kind, id, timer), undefined);
    for (const { key } of Object.values(state.calls))
      must(rows.has(keys.outbox(kind.kind, id, key)), `the effect ${key} of ${kind.kind} ${id} has no row`);
    if (state.parent !== null)
      expected.set(keys.child(state.parent.kind, state.parent.id, kind.kind, id), undefined);
  }
  for (const [key, count] of totals) expected.set(key, String(count));
  for (const [key, value] of expected) {
    must(rows.has(key), `the row ${key} is missing`);
    must(
      value === undefined || rows.get(key) === value,
      `the row ${key} says ${rows.get(key)} instead of ${value}`,
    );
  }
  for (const [key, value] of rows)
    if (
      /^[xsnt]\//.test(key) &&
      !/^(?:[xsn]|t\/\d+)\/retired/.test(key) &&
      !(/^[xn]\//.test(key) && beingListed.has(partsOf(key)[1]!))
    )
      must(expected.has(key), `nothing stands behind the row ${key}: ${value}`);
}

/** Kinds that a new version is bringing into its lists and totals in the background. */
function kindsBeingListed(rows: ReadonlyMap<string, string>, kinds: readonly Kind[]): Set<string> {
  const names = kinds.filter(({ kind, version }) => {
    const text = rows.get(keys.meta(`kernel/index/${kind}`));
    if (text === undefined) return version > 1;
    const { mark, done } = JSON.parse(text) as { mark: string; done: boolean };
    return !done || mark !== `${version}.0`;
  });
  return new Set(names.map(({ kind }) => kind));
}

/**
 * What is still to be done. Empty when all is at rest. A halted actor keeps its messages until it is resumed. Mostly
 * something is, and then the store is not asked: its rows are looked at from outside.
 */
export async function owed(
  store: Store,
  tables: Tables | undefined,
  mayRest: (key: string) => boolean,
): Promise<string[]> {
  if (tables === undefined) return ['the store is being rebuilt'];
  const obvious = owedBy(
    (start) => tables.entries(start),
    (key) => tables.entries(key)[0]?.[1],
    mayRest,
  );
  if (obvious.length > 0) return obvious;
  const pages = new Map<string, [key: string, value: string][]>();
  for (const start of [generations, 'i/', 'j/', 'o/', 't/'])
    pages.set(start, await store.page({ gte: start, lt: `${start}\x7f` }));
  const actors = [...pages.values()].flat().map(([key]) => actorOf(key));
  const records = new Map<string, string | undefined>();
  for (const actor of new Set(actors)) records.set(actor, await store.get(actor));
  return owedBy(
    (start) => pages.get(start)!,
    (actor) => records.get(actor),
    mayRest,
  );
}

function owedBy(
  rowsBelow: (start: string) => readonly (readonly [key: string, value: string])[],
  recordOf: (actor: string) => string | undefined,
  mayRest: (key: string) => boolean,
): string[] {
  const found = rowsBelow(generations)
    .filter(([, value]) => value.includes('"done":false'))
    .map(([key]) => key);
  for (const start of ['i/', 'j/', 'o/', 't/'])
    for (const [key] of rowsBelow(start)) {
      const actor = actorOf(key);
      if (mayRest(key)) continue;
      if (recordOf(actor)?.includes('"halted":{') !== true) found.push(key);
    }
  return found;
}

const generations = keys.meta('kernel/index/');

/** Whose row it is, in an inbox, an outbox, among steps or in the index of timers. */
function actorOf(key: string): string {
  const [table, a = '', b = '', c = ''] = partsOf(key);
  return table === 't' ? keys.actor(b, c) : keys.actor(a, b);
}

async function rowsOf(store: Store): Promise<Map<string, string>> {
  const rows = new Map<string, string>();
  for (let after = '!'; ;) {
    const page = await store.page({ gt: after, limit: 1_000 });
    for (const [key, value] of page) rows.set(key, value);
    if (page.length < 1_000) return rows;
    after = page.at(-1)![0];
  }
}

/** As the next start would make them: entries behind the last position that is counted carry changes of totals. */
function counted(rows: Map<string, string>): Map<string, string> {
  const upTo = keys.log(Number(rows.get(keys.meta('kernel/totals-counted')) ?? Number.MAX_SAFE_INTEGER));
  for (const [, text] of [...rows].filter(([key]) => key.startsWith('l/') && key > upTo)) {
    const entry = JSON.parse(text) as { readonly totals?: Record<string, Record<string, number>> };
    for (const [kind, names] of Object.entries(entry.totals ?? {}))
      for (const [name, change] of Object.entries(names)) {
        const key = `n/${kind}/${name}`;
        const count = Number(rows.get(key) ?? 0) + change;
        if (count === 0) rows.delete(key);
        else rows.set(key, String(count));
      }
  }
  return rows;
}

interface Stored {
  readonly kind: Kind;
  readonly id: string;
  readonly state: ActorState;
}

function recordsOf(rows: Map<string, string>, kinds: readonly Kind[]): Map<string, Stored> {
  const records = new Map<string, Stored>();
  for (const [key, text] of rows) {
    if (!key.startsWith('a/')) continue;
    const [, name, id = ''] = partsOf(key);
    const kind = kinds.find((one) => one.kind === name);
    if (kind === undefined && name === 'retired') continue; // of a version that may come back
    must(kind !== undefined, `there is no kind for the record ${key}`);
    records.set(key, { kind: kind!, id, state: decodeRecord(kind!, text) });
  }
  return records;
}

function checkLog(rows: Map<string, string>, records: Map<string, Stored>, head: Store['head']): void {
  const floor = Number(rows.get(keys.meta('log-floor')) ?? 0);
  let last = floor;
  let chain: string | undefined;
  const revisions = new Map<string, number>();
  // That each entry follows from the one before it is what `verify` has just found out
  for (const [key, value] of rows) {
    if (!key.startsWith('l/')) continue;
    const seq = Number(key.slice(2));
    must(seq === last + 1, `the log jumps from ${last} to ${key}`);
    last = seq;
    chain = chainIn(value);
    const [, kind = '', id = '', revision = ''] = entryHead.exec(value) ?? [];
    const rev = Number(revision);
    must(value.startsWith(`{"seq":${seq},`) && rev > 0, `the entry ${seq} is none: ${value.slice(0, 80)}`);
    const actor = keys.actor(kind, id);
    const before = revisions.get(actor);
    must(
      before === undefined ? floor > 0 || rev === 1 : rev === before + 1,
      `${actor} jumps to revision ${rev}`,
    );
    revisions.set(actor, rev);
  }
  must(last === head.seq || rows.size === 0, `the log ends at ${last}, the head says ${head.seq}`);
  must(chain === undefined || chain === head.chain, 'the chain of the last entry is not that of the head');
  for (const [key, { kind, state }] of records) {
    const revision = revisions.get(key);
    must(
      revision === undefined ? state.position <= floor : revision === state.revision,
      `${key} has revision ${state.revision}, its log ${revision}`,
    );
    revisions.delete(key);
    void kind;
  }
  for (const actor of revisions.keys())
    must(/^a\/(?:ticket|retired)\//.test(actor), `${actor} has a log and no record`);
}

const entryHead = /"at":\d+,"kind":"([^"]+)","id":"([^"]+)","rev":(\d+),/;
