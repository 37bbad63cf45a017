import { signal } from '@preact/signals';
import { stateNames } from '../../../machines/state-names.js';
import { ask, said } from './ask.js';
import type { ActorsPage, ActorSummary } from '../answers.js';
import type { InspectEntry } from '../frames.js';

/**
 * The list of the fleet: actors of some kinds in the order of their ids, or those in a state, longest in it first.
 * Pages are fetched as far as somebody scrolls; what is there already follows the feed. A row changes in place, so
 * that a thousand events a second cost a thousand writes and one drawing.
 */
export class Roll {
  /** Goes up when a row changed. */
  readonly version = signal(0);
  readonly error = signal<string | undefined>(undefined);
  private readonly rows: ActorSummary[] = [];
  private readonly places = new Map<string, ActorSummary>();
  private kindAt = 0;
  private after: string | null = null;
  private wanted = 0;
  private visible: readonly [from: number, to: number] = [0, 0];
  private refresh: ReturnType<typeof setTimeout> | undefined;
  private loading = false;
  /** What happened to actors that were not there yet while a page was on its way: the page may be older than that. */
  private early: InspectEntry[] = [];
  private closed = false;

  constructor(private readonly kinds: readonly string[], private readonly state: string | undefined) {}

  get count(): number { return this.rows.length; }
  /** Everything that there is has been fetched. */
  get complete(): boolean { return this.kindAt >= this.kinds.length; }
  at(index: number): ActorSummary | undefined { return this.rows[index]; }
  close(): void {
    this.closed = true;
    clearTimeout(this.refresh);
  }

  /** Rows `from` to `to` can be seen: see to it that they are there, and some after them. */
  want(from: number, to: number): void {
    this.visible = [from, to];
    const count = to + 100;
    this.wanted = Math.max(this.wanted, Math.min(count, rowsMax));
    if (!this.loading) void this.load();
  }

  private async load(): Promise<void> {
    this.loading = true;
    try {
      while (!this.closed && !this.complete && this.rows.length < this.wanted) {
        const query = new URLSearchParams({ kind: this.kinds[this.kindAt] ?? '', limit: String(this.wanted - this.rows.length > 200 ? 1_000 : 200) });
        if (this.state !== undefined) query.set('state', this.state);
        if (this.after !== null) query.set('after', this.after);
        const { actors, next } = await ask<ActorsPage>(`/api/inspect/actors?${query}`);
        for (const actor of actors) this.add(actor, this.placeAfter(actor));
        this.after = next;
        if (next === null) this.kindAt += 1;
        for (const entry of this.early.splice(0)) this.follow(entry);
        this.version.value += 1;
      }
      this.error.value = undefined;
    } catch (error) {
      this.error.value = said(error);
    }
    this.loading = false;
    this.early = [];
  }

  /** More happened than was told: read again what can be seen, at most once a second. */
  stale(): void {
    this.refresh ??= setTimeout(() => void this.readAgain().catch(() => undefined).finally(() => { this.refresh = undefined; }), 1_000);
  }

  private async readAgain(): Promise<void> {
    const [from, to] = this.visible;
    const first = this.rows[from];
    if (this.closed || first === undefined || this.state !== undefined) return;
    const before = this.rows[from - 1];
    const query = new URLSearchParams({ kind: first.kind, limit: String(Math.max(1, Math.min(200, to - from))) });
    if (before?.kind === first.kind) query.set('after', before.id);
    const { actors } = await ask<ActorsPage>(`/api/inspect/actors?${query}`);
    for (const actor of actors) {
      const row = this.places.get(`${actor.kind}/${actor.id}`);
      if (row === undefined) this.add(actor, this.placeOf(actor));
      else if (actor.seq > row.seq) Object.assign(row, actor);
    }
    this.version.value += 1;
  }

  /** What happened, one frame of it. */
  take(entries: readonly InspectEntry[]): void {
    let changed = false;
    for (const entry of entries) changed = this.follow(entry) || changed;
    if (changed) this.version.value += 1;
  }

  private follow(entry: InspectEntry): boolean {
    if (!this.kinds.includes(entry.kind)) return false;
    const key = `${entry.kind}/${entry.id}`;
    const row = this.places.get(key);
    if (row !== undefined) {
      if (entry.seq <= row.seq) return false;
      Object.assign(row, changed(row, entry));
      if (this.state !== undefined && !stands(entry.to, this.state)) this.remove(key, row);
      return true;
    }
    if (this.loading && this.early.length < earlyMax) this.early.push(entry);
    const born = entry.from === null;
    if (this.state === undefined ? !born || this.isToCome(entry) : !this.complete || !stands(entry.to, this.state)) return false;
    const index = this.state === undefined ? this.placeOf(entry) : this.rows.length;
    this.add(changed({ ...blank, kind: entry.kind, id: entry.id, createdAt: entry.at }, entry), index);
    return true;
  }

  private add(actor: ActorSummary, index: number): void {
    const key = `${actor.kind}/${actor.id}`;
    if (this.places.has(key)) return;
    const row = { ...actor };
    this.places.set(key, row);
    if (index === this.rows.length) this.rows.push(row);
    else this.rows.splice(index, 0, row);
  }

  private remove(key: string, row: ActorSummary): void {
    this.places.delete(key);
    const index = this.rows.indexOf(row);
    if (index >= 0) this.rows.splice(index, 1);
  }

  /** Pages come in the order of ids; only a list by age is as the gateway sorted it. */
  private placeAfter(actor: ActorSummary): number { return this.state === undefined ? this.placeOf(actor) : this.rows.length; }

  /** Its page has not been fetched yet. */
  private isToCome({ kind, id }: InspectEntry): boolean {
    const rank = this.kinds.indexOf(kind);
    return rank > this.kindAt || (rank === this.kindAt && (this.after === null || id > this.after));
  }

  /** Where in the order of kinds and ids it belongs. */
  private placeOf({ kind, id }: { readonly kind: string; readonly id: string }): number {
    const rank = this.kinds.indexOf(kind);
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const row = this.rows[middle] as ActorSummary;
      const before = this.kinds.indexOf(row.kind);
      if (before < rank || (before === rank && row.id < id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const earlyMax = 5_000;
/** More rows than this are counted, not listed: choose a kind or a state. */
const rowsMax = 250_000;

function changed(row: ActorSummary, { seq, rev, at, from, to, effects }: InspectEntry): ActorSummary {
  const left = new Set(effects.filter((name) => name.startsWith('-')).map((name) => name.slice(1)));
  const moved = JSON.stringify(from) !== JSON.stringify(to);
  return { ...row, seq, rev, updatedAt: at, value: to, since: moved ? at : row.since, effects: [...row.effects.filter((name) => !left.has(name)), ...effects.filter((name) => !name.startsWith('-'))], ...(moved && { due: null }) };
}

const stands = (value: InspectEntry['to'], state: string): boolean => stateNames(value).some((name) => name === state || name.startsWith(`${state}.`));

const blank: ActorSummary = { kind: '', id: '', value: null, status: 'active', rev: 0, seq: 0, createdAt: 0, updatedAt: 0, since: 0, parent: null, halted: null, effects: [], due: null, title: null };
