import type { ActorKey, Kind } from '../../actors/contracts.js';
import { authorityOf, type Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import type { Store } from '../store/contract.js';
import { keys, pageLimit, pageMax, part, partsOf, prefix } from '../store/keys.js';
import type { Waiting } from '../../machines/waiting.js';
import { waitingFor, waitingList } from './draft/indexes.js';
import type { ListItem, ListQuery, Supervisor, WaitingPage, Why } from './contract.js';
import { xstate5 } from './draft/driver.js';
import type { Commits } from './commit.js';
import type { Kernel } from './kernel.js';
import { viewOfRecord } from './draft/stored-form.js';
import { viewOf, type ActorState } from './draft/actor-state.js';
import { stateRefusal } from './draft/admission.js';

/** Reading what is committed: views, lists, rows, and why an actor is where it is. Reads wake no actor. */

export class Queries {
  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
  ) {}

  readonly get: Supervisor['get'] = async (name, id) => {
    const state = await this.kernel.cells.read(name, id);
    return state === undefined ? undefined : viewOf(this.kernel.kinds.of(name), id, state);
  };

  readonly list: Supervisor['list'] = async (name, query) => {
    const limit = pageLimit(query.limit ?? 100);
    const whole = rangeOf(name, query);
    let range: typeof whole & { reverse?: boolean } =
      query.reverse === true ? { ...whole, reverse: true } : whole;
    if (query.after !== undefined)
      range =
        query.reverse === true ? { ...range, lt: query.after } : { ...range, gte: `${query.after}\x00` };
    const rows = await this.kernel.store.page({ ...range, offset: query.offset ?? 0, limit });
    const items = rows.map(([key, value]): ListItem => {
      const [, , , sort = '', id = ''] = partsOf(key);
      return { id, key: sort, row: JSON.parse(value) as Json };
    });
    return { items, next: rows.length === limit ? (rows.at(-1)?.[0] ?? null) : null };
  };

  readonly iterate: Supervisor['iterate'] = async (name, { after, limit }) => {
    const kind = this.kernel.kinds.of(name);
    const all = prefix(keys.actor(name, ''));
    const page = await this.kernel.store.page({
      ...all,
      ...(after === undefined ? {} : { gte: `${keys.actor(name, after)}\x00` }),
      limit: pageLimit(limit),
    });
    return page.map(([, text]) => viewOfRecord(kind, text));
  };

  readonly countRange: Supervisor['countRange'] = async (name, query) =>
    this.kernel.store.count({
      ...rangeOf(name, query),
      ...(query.limit === undefined ? {} : { limit: query.limit }),
    });

  readonly rowsAt: Supervisor['rowsAt'] = async (name, index, places) => {
    const rows = await this.kernel.store.getMany(
      places.map(({ key, id }) => keys.list(name, index, key, id)),
    );
    return rows.map((row) => (row === undefined ? undefined : (JSON.parse(row) as Json)));
  };

  /**
   * What waits for a person or an agent, of all kinds, longest first. The place of an item: its key, its
   * kind, its id, all as they stand in the store, which is what they are ordered by.
   */
  readonly waiting: Supervisor['waiting'] = async ({ actor, after, limit } = {}) => {
    if (actor !== undefined) return { items: await this.waitingOf(actor), next: null };
    const wanted = Math.min(pageLimit(limit ?? 100), pageMax - 1); // one more is read, to know whether there is more
    const kinds = this.kernel.kinds.all.filter(({ waitingFor }) => waitingFor !== undefined);
    const pages = await Promise.all(
      kinds.map(async ({ kind }) => {
        const all = rangeOf(kind, { index: waitingList });
        const gte = after === undefined ? all.gte : firstAfter(kind, after.split('/'));
        const page = await this.kernel.store.page({ ...all, gte, limit: wanted + 1 });
        return page.map(([key, text]) => {
          const [, , , sort = '', id = ''] = key.split('/');
          return { kind, id, sort, waiting: JSON.parse(text) as Waiting };
        });
      }),
    );
    const byPlace = pages
      .flat()
      .sort((a, b) => order(`${a.sort}/`, `${b.sort}/`) || order(a.kind, b.kind) || order(a.id, b.id));
    const items = byPlace.slice(0, wanted);
    const last = byPlace.length > wanted ? items.at(-1) : undefined;
    return {
      items: items
        .filter(this.isOpen)
        .map(({ kind, id, waiting }) => ({ actor: { kind, id: partsOf(id)[0] ?? '' }, waiting })),
      next: last === undefined ? null : [last.sort, last.kind, last.id].join('/'),
    };
  };

  private async waitingOf({ kind: name, id }: ActorKey): Promise<WaitingPage['items']> {
    const kind = this.kernel.kinds.find(name);
    const state = kind && (await this.kernel.cells.read(name, id));
    if (state === undefined) return [];
    return waitingFor(kind as Kind, id, state)
      .map((waiting) => ({ actor: { kind: name, id }, waiting }))
      .filter(this.isOpen);
  }

  /** A row of what ran out stays until its actor has heard of it. */
  private readonly isOpen = ({ waiting: { until } }: { readonly waiting: Waiting }): boolean =>
    until === null || until > this.kernel.environment.clock.now();

  readonly rows: Supervisor['rows'] = async (actor, collection, query = {}) => {
    const at = (n: number): string => keys.row(collection, actor.kind, actor.id, n);
    const all = prefix(keys.row(collection, actor.kind, actor.id, ''));
    const backwards = query.after === undefined;
    const limit = pageLimit(query.last ?? query.limit ?? pageMax);
    const page = await this.kernel.store.page({
      ...all,
      limit,
      reverse: backwards,
      ...(query.before === undefined ? {} : { lt: at(query.before) }),
      ...(query.after === undefined ? {} : { gte: `${at(query.after)}\x00` }),
    });
    if (backwards) page.reverse();
    return page.map(([key, value]) => {
      const n = partsOf(key)[4] as string;
      return { n: /^\d{16}$/.test(n) ? Number(n) : n, row: JSON.parse(value) as Json };
    });
  };

  readonly keyValues: Supervisor['keyValues'] = async (start) => {
    const rows = await this.kernel.store.page(prefix(`m/${part(`plan/${start}`)}`));
    return rows.map(
      ([key, value]) =>
        [(partsOf(key)[1] as string).slice('plan/'.length), JSON.parse(value) as Json] as const,
    );
  };

  readonly totals: Supervisor['totals'] = (kind) => this.commits.committer.totals.of(kind);

  readonly history: Supervisor['history'] = async (actor, query) => {
    const state = await this.kernel.cells.read(actor.kind, actor.id);
    return state === undefined ? [] : this.kernel.log.history(actor, state.position, query);
  };

  readonly past: Supervisor['past'] = async (actor, at) => {
    const state = await this.kernel.cells.read(actor.kind, actor.id);
    return state === undefined
      ? undefined
      : this.kernel.log.past(this.kernel.kinds.of(actor.kind), actor, state.position, at);
  };

  readonly why: Supervisor['why'] = async (actor, by) => {
    const state = await this.kernel.cells.read(actor.kind, actor.id);
    if (state === undefined) return undefined;
    const kind = this.kernel.kinds.of(actor.kind);
    return {
      actor: viewOf(kind, actor.id, state),
      next: this.candidates(kind, actor.id, state, by),
      timers: Object.entries(state.timers).map(([id, { due, event }]) => ({
        due,
        event: event.type,
        name: nameOfTimer(id, event.type),
      })),
      effects: Object.values(state.calls).map(({ src }) => src),
      ...(kind.awaits && {
        awaits: kind.awaits(state.snapshot, this.kernel.kinds.facts(kind, state, { type: 'kernel.why' })),
      }),
    };
  };

  /**
   * The events that the kind offers, whole; else a rehearsal with bare ones, without the members that real
   * ones would carry.
   */
  private candidates(kind: Kind, id: string, state: ActorState, by: Caller): Why['next'] {
    if (kind.moves === undefined)
      return eventsOf(kind, state).map((type) => this.judge(kind, id, state, { type }, { by, whole: false }));
    const facts = this.kernel.kinds.facts(kind, state, { type: 'kernel.why' });
    const moves = kind.moves(state.snapshot, {
      at: this.kernel.environment.clock.now(),
      by,
      ...(facts === undefined ? {} : { facts }),
    });
    return moves.map(({ event, to, needs }) => ({
      ...this.judge(kind, id, state, event, { by, whole: true }),
      ...(to !== undefined && { to: [to] }),
      ...(needs !== undefined && { needs }),
    }));
  }

  /** What policy and statechart say to an event; of one that is not `whole` the policy alone is asked. */
  private judge(
    kind: Kind,
    id: string,
    state: ActorState,
    given: { readonly type: string },
    { by, whole }: { readonly by: Caller; readonly whole: boolean },
  ): Why['next'][number] {
    const { type } = given;
    const event = { ...given, at: this.kernel.environment.clock.now(), by };
    try {
      const facts = this.kernel.kinds.facts(kind, state, event);
      const stamped = { ...event, ...(facts === undefined ? {} : { facts }) };
      const refusal =
        kind.policy?.(state.snapshot, stamped as never, authorityOf({ by })) ??
        (whole && !(kind.driver ?? xstate5).takes(kind.machine, state.snapshot, stamped)
          ? stateRefusal(kind, id, state.snapshot, stamped)
          : undefined);
      if (refusal !== undefined)
        return { event: type, allowed: false, refusal: { code: refusal.code, message: refusal.message } };
    } catch {
      return { event: type, allowed: true }; // the policy wants members that only a real event has
    }
    return { event: type, allowed: true };
  }
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Where the rows of a kind begin that stand after a place in the list of all kinds. */
function firstAfter(name: string, [sort = '', kind = '', id = '']: readonly string[]): string {
  const same = `${rangeOf(name, { index: waitingList }).gte}${sort}/`;
  if (name !== kind) return name < kind ? prefix(same).lt : same;
  return `${same}${id}\x00`;
}

/** The keys of a list that a query means. */
function rangeOf(
  name: string,
  { index, prefix: start = '', from, to }: Pick<ListQuery, 'index' | 'prefix' | 'from' | 'to'>,
): { readonly gte: string; readonly lt: string } {
  const at = (key: string): string => keys.list(name, index, key, '').slice(0, -1);
  const all = prefix(at(start));
  return { gte: from === undefined ? all.gte : at(from), lt: to === undefined ? all.lt : at(to) };
}

/** A delay by its name in the machine; XState 6 says no more of a timer than its id. */
function nameOfTimer(id: string, type: string): string {
  const name = type === 'xstate.timer' ? id : type;
  return /^xstate\.after\.([^.]+)\./.exec(name)?.[1] ?? name;
}

/** The events that the current state names, without XState's own. */
function eventsOf(kind: Kind, { snapshot }: ActorState): string[] {
  return [...new Set((kind.driver ?? xstate5).events(snapshot))]
    .filter((type) => !type.startsWith('xstate.') && type !== '*' && type !== '')
    .sort();
}

/** The youngest rows of an actor's collection that `where` takes, oldest first; at most a thousand. */
export async function youngestRows(
  store: Store,
  actor: ActorKey,
  collection: string,
  {
    last = rowsMax,
    where = () => true,
  }: { readonly last?: number; readonly where?: (row: Json) => boolean } = {},
): Promise<Json[]> {
  const start = keys.row(collection, actor.kind, actor.id, '');
  const wanted = Math.min(last, rowsMax);
  const found: Json[] = [];
  let before = `${start}\x7f`;
  for (let pages = 0; pages < rowPagesMax && found.length < wanted; pages += 1) {
    const page = await store.page({ gte: start, lt: before, reverse: true, limit: wanted });
    for (const [key, value] of page) {
      before = key;
      const row = JSON.parse(value) as Json;
      if (found.length < wanted && where(row)) found.push(row);
    }
    if (page.length < wanted) break;
  }
  return found.reverse();
}

/** What `where` takes may lie far back. */
const rowPagesMax = 100;
const rowsMax = 1_000;
