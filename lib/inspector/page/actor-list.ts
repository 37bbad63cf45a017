import { signal } from '@preact/signals';
import { ask, isTemporary, retryMs, said } from '../../page/ask.js';
import { hasMoved, standsIn } from './moves.js';
import type { ActorsPage, ActorSummary } from '../answers.js';
import type { InspectEntry } from '../../client/inspector-frames.js';

/**
 * The list of the fleet: actors of some kinds in the order of their ids, or those in a state, longest in it
 * first. Only blocks of it around what can be seen are here, so that a jump to the end of very many reads one
 * block. Rows that are here follow the feed in place; what moves rows up or down (a creation, a change of state)
 * has them read again.
 */
export class ActorList {
  /** Goes up when a row changed. */
  readonly version = signal(0);
  readonly error = signal<string | undefined>(undefined);
  /** By kind and number, the one read last at the end. */
  private readonly blocks = new Map<string, Block>();
  private totals: readonly number[] = [];
  /** Where a kind ended when its last block was read: counts and blocks are told at different moments. */
  private readonly ends = new Map<number, number>();
  private seen: readonly [from: number, to: number] = [0, 0];
  private readonly moved = new Set<number>();
  private refresh: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private readAt = 0;
  private loading = false;
  /** What happened while blocks were on their way, which may be older than that. */
  private early: InspectEntry[] = [];
  private closed = false;

  constructor(
    private readonly kinds: readonly string[],
    private readonly state: string | undefined,
  ) {}

  get count(): number {
    return this.kinds.reduce((sum, _kind, n) => sum + this.countOf(n), 0);
  }

  /** How many there are of each kind. Where that has changed, rows may have moved. */
  measure(totals: readonly number[]): void {
    totals.forEach((total, n) => {
      if (this.totals[n] !== undefined && this.totals[n] !== total) this.stale([n]);
    });
    this.totals = totals;
  }

  at(index: number): ActorSummary | undefined {
    const [part] = this.partsOf(index, index + 1);
    return part && this.blocks.get(nameOf(part.kind, part.from / blockRows))?.list[part.from % blockRows];
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.refresh);
    clearTimeout(this.retry);
  }

  /** Rows `from` to `to` can be seen: see to it that they are there, and some around them. */
  want(from: number, to: number): void {
    this.seen = [from, to];
    this.again();
  }

  again(): void {
    clearTimeout(this.retry);
    if (!this.loading && !this.closed) void this.load();
  }

  /**
   * Rows may have moved, or more happened than was told: read again what can be seen, at most once a second.
   */
  stale(kinds: Iterable<number> = this.kinds.keys()): void {
    for (const kind of kinds) this.moved.add(kind);
    this.refresh ??= setTimeout(
      () => {
        this.refresh = undefined;
        for (const block of this.blocks.values()) if (this.moved.has(block.kind)) block.fresh = false;
        for (const kind of this.moved) this.ends.delete(kind);
        this.moved.clear();
        this.forget();
        this.again();
      },
      Math.max(100, this.readAt + 1_000 - Date.now()),
    );
  }

  /** What happened, one frame of it. */
  take(entries: readonly InspectEntry[]): void {
    const mine = entries.filter(({ kind }) => this.kinds.includes(kind));
    if (this.loading) this.early = [...this.early, ...mine].slice(-earlyMax);
    const moved = mine.filter(
      ({ from, to }) =>
        from === null ||
        (this.state !== undefined && standsIn(from, this.state) !== standsIn(to, this.state)),
    );
    if (moved.length > 0) this.stale(moved.map(({ kind }) => this.kinds.indexOf(kind)));
    if (this.follow(mine)) this.version.value += 1;
  }

  private follow(entries: readonly InspectEntry[]): boolean {
    let followed = false;
    for (const entry of entries) {
      for (const block of this.blocks.values()) {
        const row = block.rows.get(`${entry.kind}/${entry.id}`);
        if (row === undefined || entry.seq <= row.seq) continue;
        // In place: a thousand events a second cost a thousand writes and one drawing
        Object.assign(row, changed(row, entry));
        followed = true;
      }
    }
    return followed;
  }

  private async load(): Promise<void> {
    this.loading = true;
    try {
      for (let missing = this.missing(); missing.length > 0 && !this.closed; missing = this.missing()) {
        await Promise.all(missing.map(({ kind, n }) => this.read(kind, n)));
        this.forget();
        this.follow(this.early.splice(0));
        this.version.value += 1;
      }
      this.error.value = undefined;
    } catch (error) {
      this.error.value = said(error);
      if (isTemporary(error) && !this.closed) this.retry = setTimeout(() => this.again(), retryMs);
    }
    this.loading = false;
    this.early = [];
  }

  /** Blocks that hold what can be seen and some rows around it. */
  private needed(): readonly { readonly kind: number; readonly n: number }[] {
    const [seenFrom, seenTo] = this.seen;
    return this.partsOf(Math.max(0, seenFrom - margin), seenTo + margin).flatMap(({ kind, from, to }) => {
      const first = Math.floor(from / blockRows);
      return Array.from({ length: Math.ceil(to / blockRows) - first }, (_, n) => ({ kind, n: first + n }));
    });
  }

  /** Those of them that are not here, or not true any more. */
  private missing(): readonly { readonly kind: number; readonly n: number }[] {
    return this.needed().filter(({ kind, n }) => this.blocks.get(nameOf(kind, n))?.fresh !== true);
  }

  /** Of what is not needed now, what is not true any more goes, and what was read longest ago. */
  private forget(): void {
    const needed = new Set(this.needed().map(({ kind, n }) => nameOf(kind, n)));
    for (const [name, { fresh }] of this.blocks)
      if ((!fresh || this.blocks.size > blocksMax) && !needed.has(name)) this.blocks.delete(name);
  }

  private async read(kind: number, n: number): Promise<void> {
    const query = new URLSearchParams({ kind: this.kinds[kind] ?? '', limit: String(blockRows) });
    if (this.state !== undefined) query.set('state', this.state);
    const before = this.blocks.get(nameOf(kind, n - 1));
    if (before?.fresh === true && before.next !== null) query.set('after', before.next);
    else if (n > 0) query.set('offset', String(n * blockRows));
    const { actors, next } = await ask<ActorsPage>(`/api/inspect/actors?${query}`);
    this.readAt = Date.now();
    this.blocks.delete(nameOf(kind, n));
    this.blocks.set(nameOf(kind, n), {
      kind,
      list: actors,
      rows: new Map(actors.map((actor) => [`${actor.kind}/${actor.id}`, actor])),
      next,
      fresh: true,
    });
    if (next === null) this.ends.set(kind, n * blockRows + actors.length);
  }

  private countOf(kind: number): number {
    return Math.min(this.totals[kind] ?? 0, this.ends.get(kind) ?? Infinity);
  }

  /** The same rows, kind by kind: positions count from the first of the kind. */
  private partsOf(
    from: number,
    to: number,
  ): readonly { readonly kind: number; readonly from: number; readonly to: number }[] {
    let start = 0;
    return this.kinds.flatMap((_kind, kind) => {
      const part = { kind, from: Math.max(0, from - start), to: Math.min(this.countOf(kind), to - start) };
      start += this.countOf(kind);
      return part.from < part.to ? [part] : [];
    });
  }
}

/** A stretch of the list of one kind: `rows` are those of `list`, by kind and id. */
interface Block {
  readonly kind: number;
  readonly list: readonly ActorSummary[];
  readonly rows: ReadonlyMap<string, ActorSummary>;
  readonly next: string | null;
  fresh: boolean;
}

const nameOf = (kind: number, n: number): string => `${kind}#${Math.floor(n)}`;
const blockRows = 100;
const blocksMax = 50;
/** What comes next when someone scrolls on. */
const margin = 60;
const earlyMax = 5_000;

function changed(row: ActorSummary, entry: InspectEntry): ActorSummary {
  const { seq, rev, at, to, effects } = entry;
  const left = new Set(effects.filter((name) => name.startsWith('-')).map((name) => name.slice(1)));
  const moved = hasMoved(entry);
  return {
    ...row,
    seq,
    rev,
    updatedAt: at,
    value: to,
    since: moved ? at : row.since,
    effects: [
      ...row.effects.filter((name) => !left.has(name)),
      ...effects.filter((name) => !name.startsWith('-')),
    ],
    ...(moved && { due: null }),
  };
}
