import type { ActorKey, Kind } from '../../actors/contracts.js';
import type { Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';
import { keys, part, partsOf, prefix } from '../store/keys.js';
import type { ActorView, ListItem, ListPage, ListQuery, Row, RowsQuery, Why } from './contract.js';
import type { Kernel } from './kernel.js';
import { viewOf, type Live } from './live.js';

/** Reading what is committed: views, lists, rows, and why an actor is where it is. Reads wake nobody. */
const pageMax = 1_000;

export class Reading {
  constructor(private readonly kernel: Kernel) {}

  async get(name: string, id: string): Promise<ActorView | undefined> {
    const live = await this.kernel.cells.read(name, id);
    return live === undefined ? undefined : viewOf(this.kernel.kind(name), id, live);
  }

  async list(name: string, query: ListQuery): Promise<ListPage> {
    const start = keys.list(name, query.index, query.prefix ?? '', '').slice(0, -1);
    const limit = clamp(query.limit ?? 100);
    let range = query.reverse === true ? { ...prefix(start), reverse: true } : prefix(start);
    if (query.after !== undefined) range = query.reverse === true ? { ...range, lt: query.after } : { ...range, gte: `${query.after}\x00` };
    const rows = await this.pageFrom(range, query.offset ?? 0, limit);
    const items = rows.map(([key, value]): ListItem => {
      const [, , , sort = '', id = ''] = partsOf(key);
      return { id, key: sort, row: JSON.parse(value) as Json };
    });
    return { items, next: rows.length === limit ? rows.at(-1)?.[0] ?? null : null };
  }

  async rows(actor: ActorKey, collection: string, query: RowsQuery = {}): Promise<Row[]> {
    const at = (n: number): string => keys.row(collection, actor.kind, actor.id, n);
    const all = prefix(keys.row(collection, actor.kind, actor.id, ''));
    const backwards = query.after === undefined;
    const limit = clamp(query.last ?? query.limit ?? pageMax);
    const page = await this.kernel.store.page({
      ...all, limit, reverse: backwards,
      ...(query.before === undefined ? {} : { lt: at(query.before) }),
      ...(query.after === undefined ? {} : { gte: `${at(query.after)}\x00` }),
    });
    if (backwards) page.reverse();
    return page.map(([key, value]) => {
      const n = partsOf(key)[4] as string;
      return { n: /^\d{16}$/.test(n) ? Number(n) : n, row: JSON.parse(value) as Json };
    });
  }

  async meta(start: string): Promise<(readonly [string, Json])[]> {
    const rows = await this.kernel.store.page(prefix(`m/${part(`plan/${start}`)}`));
    return rows.map(([key, value]) => [(partsOf(key)[1] as string).slice('plan/'.length), JSON.parse(value) as Json] as const);
  }

  async why(actor: ActorKey, by: Caller): Promise<Why | undefined> {
    const live = await this.kernel.cells.read(actor.kind, actor.id);
    if (live === undefined) return undefined;
    const kind = this.kernel.kind(actor.kind);
    return {
      actor: viewOf(kind, actor.id, live),
      next: eventsOf(live).map((type) => this.judge(kind, live, type, by)),
      timers: Object.values(live.timers).map(({ due, event }) => ({ due, event: event.type })),
      effects: Object.values(live.calls).map(({ src }) => src),
    };
  }

  /** A rehearsal of the policy with a bare event: what it says without the members that a real event would carry. */
  private judge(kind: Kind, live: Live, type: string, by: Caller): Why['next'][number] {
    const event = { type, at: this.kernel.now(), by };
    try {
      const facts = this.kernel.facts(kind, live, event);
      const refusal = kind.policy?.(live.snapshot, { ...event, ...(facts === undefined ? {} : { facts }) } as never);
      if (refusal !== undefined) return { event: type, allowed: false, refusal: { code: refusal.code, message: refusal.message } };
    } catch {
      return { event: type, allowed: true }; // the policy wants members that only a real event has
    }
    return { event: type, allowed: true };
  }

  private async pageFrom(range: { readonly gte: string; readonly lt: string; readonly reverse?: boolean }, offset: number, limit: number): Promise<[string, string][]> {
    let rest = range;
    for (let skip = offset; skip > 0;) {
      const skipped = await this.kernel.store.page({ ...rest, limit: Math.min(skip, pageMax) });
      const last = skipped.at(-1);
      if (last === undefined || skipped.length < Math.min(skip, pageMax)) return [];
      skip -= skipped.length;
      rest = rest.reverse === true ? { ...rest, lt: last[0] } : { ...rest, gte: `${last[0]}\x00` };
    }
    return this.kernel.store.page({ ...rest, limit });
  }
}

/** The events that the current state names, without XState's own. */
function eventsOf(live: Live): string[] {
  const nodes = live.snapshot._nodes as readonly { readonly ownEvents: readonly string[] }[];
  return [...new Set(nodes.flatMap((node) => node.ownEvents))].filter((type) => !type.startsWith('xstate.') && type !== '*' && type !== '').sort();
}

const clamp = (limit: number): number => Math.max(0, Math.min(limit, pageMax));
