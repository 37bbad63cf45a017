import type { Group, Op, Store } from '../store/contract.js';
import { keys, prefix } from '../store/keys.js';
import { sealDraft, sealRecord } from './draft/stored-form.js';
import type { Draft } from './draft/draft.js';
import { Totals, type Change } from './totals.js';
import type { Environment } from '../environment.js';

/**
 * The one hand that writes. Stages that are ready at the same moment become one group: one batch, one fsync.
 * While a group is on its way to disk the next one gathers, so that the group grows with the load and a lone
 * event never waits.
 */
export class Committer {
  readonly tallies: Totals;
  readonly lead: ClockSkew;
  private waiting: Pending[] = [];
  private scheduled = false;
  private inFlight = 0;
  private broken = false;
  private seq: number;
  private chain: string;
  /** Since start. */
  commits = 0;
  groups = 0;

  constructor(
    private readonly store: Store,
    private readonly limits: { readonly groupsInFlightMax: number; readonly groupDraftsMax: number },
    /** Called in log order with the sealed entries of each durable group. */
    private readonly published: (entries: readonly Sealed[]) => void,
    private readonly fault: (what: string, error: unknown) => void,
  ) {
    this.tallies = new Totals(store);
    this.lead = new ClockSkew(store);
    this.seq = store.head.seq;
    this.chain = store.head.chain;
  }

  /** Position of the last durable entry. */
  get head(): number {
    return this.store.head.seq;
  }
  get idle(): boolean {
    return this.waiting.length === 0 && this.inFlight === 0;
  }

  /**
   * `settled()` after the fsync, in commit order; or with the error, and then nothing of the stage was
   * written.
   */
  submit(draft: Draft, settled: (error?: unknown) => void): void {
    this.waiting.push({ draft, settled });
    // Enough for a group of its own: the disk begins while the rest is still being decided.
    if (this.waiting.length >= groupDraftsFull && this.inFlight < this.limits.groupsInFlightMax)
      return this.flush();
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(this.flush);
  }

  /** Never throws: who submits, and who else waits, must not suffer for it. */
  private readonly flush = (): void => {
    this.scheduled = false;
    while (this.waiting.length > 0 && this.inFlight < this.limits.groupsInFlightMax && !this.broken) {
      // A second group in flight only pays when there is enough to fill it.
      if (this.inFlight > 0 && this.waiting.length < 16) return;
      const members = this.waiting.slice(0, this.fitting());
      this.waiting = this.waiting.slice(members.length);
      this.write(members);
    }
  };

  /** How many of those that wait make a group: bounded by their number and by what a frame can hold. */
  private fitting(): number {
    const most = Math.min(this.waiting.length, this.limits.groupDraftsMax);
    let chars = 0;
    for (let n = 0; n < most; n += 1) {
      chars += (this.waiting[n] as Pending).draft.chars;
      if (n > 0 && chars > groupCharsMax) return n;
    }
    return most;
  }

  private write(members: readonly Pending[]): void {
    const sealed: Sealed[] = [];
    const changes = changesOf(members);
    const { seq, chain } = this;
    let group: Group;
    try {
      group = this.seal(members, sealed);
    } catch (error) {
      // All that can fail was made into text when it was staged: this is a fault of the kernel
      [this.seq, this.chain] = [seq, chain];
      this.lead.unwritten();
      return this.apart(members, error);
    }
    for (const op of this.tallies.seal(changes)) (group.ops as Op[]).push(op);
    this.inFlight += 1;
    this.stored(group).then(
      () => {
        this.tallies.settle(changes, true);
        this.done(members, sealed, undefined);
      },
      (error: unknown) => {
        // An answer that was lost on its way is no reason to count wrongly: what survived tells.
        this.tallies.settle(changes, group.last >= group.first && this.store.head.seq >= group.last);
        this.done(members, sealed, error ?? new Error('the store failed'));
      },
    );
  }

  /** What cannot be sealed together is tried one by one: only the one at fault fails. */
  private apart(members: readonly Pending[], error: unknown): void {
    const [only] = members;
    if (members.length > 1) for (const member of members) this.write([member]);
    else setImmediate(() => this.settle(only as Pending, error));
  }

  private stored(group: Group): Promise<void> {
    try {
      return this.store.write(group);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  private seal(members: readonly Pending[], sealed: Sealed[]): Group {
    const ops: Op[] = [];
    const first = this.seq + 1;
    for (const { draft } of members) this.sealStage(draft, ops, sealed);
    return { first, last: this.seq, chain: this.chain, ops };
  }

  private sealStage(draft: Draft, ops: Op[], sealed: Sealed[]): void {
    const { entries } = draft;
    const tx = this.seq + 1;
    draft.tx = tx;
    const led = this.lead.row(draft);
    if (led !== undefined) ops.push(led);
    for (const op of draft.ops) ops.push(op);
    const latest = new Map<string, { seq: number; base: number }>();
    for (let index = 0; index < entries.length; index += 1) {
      const entry = entries[index] as Draft['entries'][number];
      const own = draft.requested[index] as Draft['requested'][number];
      const seq = tx + index;
      const actor = keys.actor(own.actor.kind, own.actor.id);
      const before = latest.get(actor);
      const base = entry.whole ? seq : (before?.base ?? entry.base);
      const row = sealDraft(
        entry,
        seq,
        tx,
        index === entries.length - 1,
        before?.seq ?? entry.prev,
        base,
        this.chain,
      );
      latest.set(actor, { seq, base });
      this.chain = row.chain;
      ops.push([keys.log(seq), row.value]);
      sealed.push({ seq, value: row.value, actor: own.actor });
      own.messages.forEach((message, at) =>
        ops.push([keys.inbox(message.to.kind, message.to.id, seq, at), `${message.row},"cause":${seq}}`]),
      );
    }
    this.seq += entries.length;
    for (const staged of draft.next.values()) {
      const placed = { ...staged.live, ...latest.get(staged.key) };
      staged.live = placed;
      ops.push([staged.key, sealRecord(staged.record, placed.seq, placed.base)]);
    }
  }

  private done(members: readonly Pending[], sealed: readonly Sealed[], error: unknown): void {
    this.inFlight -= 1;
    if (error === undefined) {
      this.groups += 1;
      this.commits += members.length;
      if (sealed.length > 0) this.publish(sealed);
    } else {
      this.broken = true;
    }
    for (const member of members) this.settle(member, error);
    if (this.broken && this.inFlight === 0) this.rewind(error);
    if (this.waiting.length > 0) this.flush();
  }

  /** After a failed write everything that was staged on top of it is void: start again from what survived. */
  private rewind(error: unknown): void {
    const discarded = this.waiting;
    this.waiting = [];
    this.seq = this.store.head.seq;
    this.chain = this.store.head.chain;
    this.broken = false;
    this.lead.unwritten();
    for (const member of discarded) this.settle(member, error);
  }

  /** One that throws while it hears of its commit must not hold up the others. */
  private settle({ settled }: Pending, error: unknown): void {
    try {
      settled(error);
    } catch (problem) {
      this.fault('commit follow-up failed', problem);
    }
  }

  private publish(sealed: readonly Sealed[]): void {
    try {
      this.published(sealed);
    } catch (problem) {
      this.fault('log listener threw', problem);
    }
  }
}

/**
 * Measured with 64 in flight: halves keep disk and processor busy at the same time, quarters cost more than
 * they save.
 */
const groupDraftsFull = 32;

/** Far below the 256 MiB that a frame may have, whatever their text is in UTF-8. */
const groupCharsMax = 64 << 20;

const none: Change = new Map();

/** What the stages of a group change in sum. */
function changesOf(members: readonly Pending[]): Change {
  let sum: Map<string, number> | undefined;
  for (const { draft } of members) {
    for (const [key, change] of draft.tallies) (sum ??= new Map()).set(key, (sum.get(key) ?? 0) + change);
  }
  return sum ?? none;
}

interface Pending {
  readonly draft: Draft;
  readonly settled: (error?: unknown) => void;
}

/** A log entry as written. */
export interface Sealed {
  readonly seq: number;
  readonly value: string;
  readonly actor: { readonly kind: string; readonly id: string };
}

/**
 * How far the clock of waits stands ahead of the wall, kept over restarts. It does where somebody set the
 * wall back: waits never go back, whether it was set back while somebody was there or not. Timers are written
 * down on the clock of waits, so a new process must take it up where it stood, or every timer that was set
 * since would be late by as much.
 */
export class ClockSkew {
  private known = 0;

  constructor(private readonly store: Store) {}

  /** At the start, before any time is told. */
  async resumeEffect(environment: Environment): Promise<void> {
    this.known = Number((await this.store.get(key)) ?? 0);
    if (this.known > leadMsMin) environment.clock.skewBy?.(this.known);
    // The wall may have been set back while nobody was there: then the last commit lies in the future.
    const behind = (await this.lastAt()) + this.known - environment.clock.monotonic();
    if (behind > leadMsMin) environment.clock.skewBy?.(behind);
  }

  /** Wall time of the last commit; 0 when there is none. */
  private async lastAt(): Promise<number> {
    const [last] = await this.store.page({ ...prefix('l/'), reverse: true, limit: 1 });
    // It stands before anything that others wrote
    return Number(/"at":(\d+)/.exec(last?.[1] ?? '')?.[1] ?? 0);
  }

  /** The row that must be written with a stage whose times tell of another lead than is known. */
  row({ steady, at }: Pick<Draft, 'steady' | 'at'>): readonly [key: string, value: string] | undefined {
    const lead = steady - at;
    if (Math.abs(lead - this.known) <= leadMsMin) return undefined; // never so where it is not known
    this.known = lead;
    return [key, String(lead)];
  }

  /** The row may not have been written: the next draft carries it again. */
  unwritten(): void {
    this.known = Number.NaN;
  }
}

const key = keys.meta('kernel/clock-lead');
/** Clocks are read one after the other and differ by a little. */
const leadMsMin = 1_000;
