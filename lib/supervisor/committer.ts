import type { Group, Op, Store } from '../store/contract.js';
import { keys, prefix } from '../store/keys.js';
import { sealDraft, sealRecord } from './draft/stored-form.js';
import type { ActorState } from './draft/actor-state.js';
import type { Draft } from './draft/draft.js';
import type { SealedEntry } from './contract.js';
import type { Kernel } from './kernel.js';
import { isLost, provesLoss } from './ownership.js';
import { Totals, totalsMember, type Change } from './totals.js';
import type { Environment } from '../environment.js';

/**
 * The only writer of commits. Drafts that are ready at the same moment become one group: one batch, one fsync.
 * While a group is on its way to disk the next one gathers, so that the group grows with the load and a lone
 * event never waits.
 */
export class Committer {
  readonly totals: Totals;
  readonly skew: ClockSkew;
  private waiting: Pending[] = [];
  private scheduled = false;
  private inFlight = 0;
  /** Why what was drafted since must not be written; undefined: nothing has failed. */
  private broken: { readonly error: unknown } | undefined;
  private seq: number;
  private chain: string;
  /** Since start. */
  commits = 0;
  events = 0;

  constructor(private readonly kernel: Kernel) {
    this.totals = new Totals(kernel.store);
    this.skew = new ClockSkew(kernel.store);
    this.seq = kernel.store.head.seq;
    this.chain = kernel.store.head.chain;
  }

  get idle(): boolean {
    return this.waiting.length === 0 && this.inFlight === 0;
  }

  /**
   * `settled()` after the fsync, in commit order; or with the error, and then nothing of the draft was
   * written.
   */
  submit(draft: Draft, settled: (error?: unknown) => void): void {
    const { loss } = this.kernel.ownership;
    if (loss !== undefined) return void setImmediate(() => this.settle({ draft, settled }, loss));
    this.waiting.push({ draft, settled });
    // Enough for a group of its own: the disk begins while the rest is still being decided.
    if (this.waiting.length >= groupDraftsFull && this.inFlight < groupsInFlightMax) return this.flush();
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(this.flush);
  }

  /** Never throws: who submits, and who else waits, must not suffer for it. */
  private readonly flush = (): void => {
    this.scheduled = false;
    while (this.waiting.length > 0 && this.inFlight < groupsInFlightMax && this.broken === undefined) {
      // A second group in flight only pays when there is enough to fill it.
      if (this.inFlight > 0 && this.waiting.length < 16) return;
      const members = this.waiting.slice(0, this.fitting());
      this.waiting = this.waiting.slice(members.length);
      this.write(members);
    }
  };

  /** How many of those that wait make a group: bounded by their number and by what a frame can hold. */
  private fitting(): number {
    const most = Math.min(this.waiting.length, groupDraftsMax);
    let chars = 0;
    for (let n = 0; n < most; n += 1) {
      chars += (this.waiting[n] as Pending).draft.chars;
      if (n > 0 && chars > groupCharsMax) return n;
    }
    return most;
  }

  private write(members: readonly Pending[]): void {
    const sealed: SealedEntry[] = [];
    const changes = changesOf(members);
    const { seq, chain } = this;
    const position = members.reduce((sum, { draft }) => sum + draft.entries.length, seq);
    const allHaveEntries = members.every(({ draft }) => draft.entries.length > 0);
    const counted = this.totals.isDue(position, changes, allHaveEntries);
    let group: Group;
    try {
      group = this.seal(members, sealed, counted ? '' : totalsMember(changes));
    } catch (error) {
      // All that can fail was made into text when it was drafted: this is a fault of the kernel
      [this.seq, this.chain] = [seq, chain];
      this.skew.unwritten();
      return this.apart(members, error);
    }
    this.totals.seal(changes, position);
    if (counted) for (const op of this.totals.rows(position)) (group.ops as Op[]).push(op);
    const totals = { changes, position, counted };
    this.inFlight += 1;
    this.stored(group).then(
      () => {
        this.totals.settle(totals, true);
        this.done(members, sealed, undefined);
      },
      (error: unknown) => {
        // An answer that was lost on its way is no reason to count wrongly: what survived tells.
        this.totals.settle(totals, group.last >= group.first && this.kernel.store.head.seq >= group.last);
        this.done(members, sealed, this.failure(error));
      },
    );
  }

  /** A group behind one that failed has no place in the store either, which proves nothing. */
  private failure(error: unknown): unknown {
    const { ownership } = this.kernel;
    if (provesLoss(error) && (this.broken === undefined || isLost(error))) return ownership.lose(error);
    return ownership.loss ?? error ?? new Error('the store failed');
  }

  /** What cannot be sealed together is tried one by one: only the one at fault fails. */
  private apart(members: readonly Pending[], error: unknown): void {
    const [only] = members;
    if (members.length > 1) for (const member of members) this.write([member]);
    else setImmediate(() => this.settle(only as Pending, error));
  }

  private stored(group: Group): Promise<void> {
    try {
      return this.kernel.store.write(group);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** `totals`: what the last entry carries. */
  private seal(members: readonly Pending[], sealed: SealedEntry[], totals: string): Group {
    const ops: Op[] = [];
    const first = this.seq + 1;
    members.forEach(({ draft }, n) =>
      this.sealDrafted(draft, ops, sealed, n === members.length - 1 ? totals : ''),
    );
    return { first, last: this.seq, chain: this.chain, ops };
  }

  private sealDrafted(draft: Draft, ops: Op[], sealed: SealedEntry[], totals: string): void {
    const { entries } = draft;
    const first = this.seq + 1;
    draft.position = first;
    for (const op of this.skew.rows(draft)) ops.push(op);
    for (const op of draft.ops) ops.push(op);
    const latest = new Map<string, Pick<ActorState, 'position' | 'snapshotAt'>>();
    for (let index = 0; index < entries.length; index += 1) {
      const entry = entries[index] as Draft['entries'][number];
      const own = draft.requested[index] as Draft['requested'][number];
      const position = first + index;
      const actor = keys.actor(own.actor.kind, own.actor.id);
      const before = latest.get(actor);
      const snapshotAt = entry.whole ? position : (before?.snapshotAt ?? entry.snapshotAt);
      const row = sealDraft(
        entry,
        position,
        first,
        index === entries.length - 1,
        before?.position ?? entry.previous,
        snapshotAt,
        this.chain,
        index === entries.length - 1 ? totals : '',
      );
      latest.set(actor, { position, snapshotAt });
      this.chain = row.chain;
      ops.push([keys.log(position), row.value]);
      sealed.push({ position, value: row.value, actor: own.actor, shown: row.shown });
      own.messages.forEach((message, at) =>
        ops.push([
          keys.inbox(message.to.kind, message.to.id, position, at),
          `${message.row},"cause":${position}}`,
        ]),
      );
    }
    this.seq += entries.length;
    for (const drafted of draft.next.values()) {
      const placed = { ...drafted.state, ...latest.get(drafted.key) };
      drafted.state = placed;
      ops.push([drafted.key, sealRecord(drafted.record, placed.position, placed.snapshotAt)]);
    }
  }

  private done(members: readonly Pending[], sealed: readonly SealedEntry[], error: unknown): void {
    this.inFlight -= 1;
    if (error === undefined) {
      this.commits += members.length;
      if (sealed.length > 0) this.publish(sealed);
    } else {
      this.broken ??= { error };
    }
    for (const member of members) this.settle(member, error);
    // The group ahead of one that failed may be answered after it, and well: what hangs on the failed one is void
    if (this.broken !== undefined && this.inFlight === 0) this.rewind(this.broken.error);
    if (this.waiting.length > 0) this.flush();
  }

  /** After a failed write everything that was drafted on top of it is void: start again from what survived. */
  private rewind(error: unknown): void {
    const discarded = this.waiting;
    this.waiting = [];
    ({ seq: this.seq, chain: this.chain } = this.kernel.store.head);
    this.broken = undefined;
    this.skew.unwritten();
    for (const member of discarded) this.settle(member, error);
  }

  /** One that throws while it hears of its commit must not hold up the others. */
  private settle({ settled }: Pending, error: unknown): void {
    try {
      settled(error);
    } catch (problem) {
      this.kernel.fault('commit follow-up failed', problem);
    }
  }

  private publish(sealed: readonly SealedEntry[]): void {
    this.events += sealed.length;
    try {
      this.kernel.log.published(sealed);
    } catch (problem) {
      this.kernel.fault('log listener threw', problem);
    }
  }
}

/**
 * Measured with 64 in flight: halves keep disk and processor busy at the same time, quarters cost more than
 * they save.
 */
const groupDraftsFull = 32;
const groupDraftsMax = 512;
const groupsInFlightMax = 2;

/** Far below the 256 MiB that a frame may have, whatever their text is in UTF-8. */
const groupCharsMax = 64 << 20;

const none: Change = new Map();

/** What the drafts of a group change in sum. */
function changesOf(members: readonly Pending[]): Change {
  let sum: Map<string, number> | undefined;
  for (const { draft } of members) {
    for (const [key, change] of draft.totals) (sum ??= new Map()).set(key, (sum.get(key) ?? 0) + change);
  }
  for (const [key, change] of sum ?? none) if (change === 0) sum?.delete(key);
  return sum ?? none;
}

interface Pending {
  readonly draft: Draft;
  readonly settled: (error?: unknown) => void;
}

/**
 * How far the clock of waits stands ahead of the wall, kept over restarts. It does where the wall was set
 * back: waits never go back, whether it was set back while a process ran or not. Timers are written
 * down on the clock of waits, so a new process must take it up where it stood, or every timer that was set
 * since would be late by as much.
 */
export class ClockSkew {
  private known = 0;
  private machine = '';

  constructor(private readonly store: Store) {}

  /**
   * At the start, before any time is read. On another machine the lead over the former one's wall means nothing:
   * counted in again, it would grow with every move between walls that differ.
   */
  async load({ clock, machine = '' }: Environment): Promise<void> {
    const [lead = '0', led = machine] = await this.store.getMany([key, machineKey]);
    this.machine = machine;
    this.known = Number(lead);
    const lastAt = (await this.lastAt()) + this.known;
    if (led !== machine) this.unwritten();
    else if (this.known > skewMsMin) clock.skewBy?.(this.known);
    // The wall may have been set back while no process ran: then the last commit lies in the future.
    const behind = lastAt - clock.monotonic();
    if (behind > skewMsMin) clock.skewBy?.(behind);
  }

  /** Wall time of the last commit; 0 when there is none. */
  private async lastAt(): Promise<number> {
    const [last] = await this.store.page({ ...prefix('l/'), reverse: true, limit: 1 });
    // It stands before anything that others wrote
    return Number(/"at":(\d+)/.exec(last?.[1] ?? '')?.[1] ?? 0);
  }

  /** The rows that must be written with a draft whose times tell of another skew than is known. */
  rows({ monotonic, at }: Draft): readonly Op[] {
    const skew = monotonic - at;
    if (Math.abs(skew - this.known) <= skewMsMin) return noRows; // never so where it is not known
    this.known = skew;
    return [
      [key, String(skew)],
      [machineKey, this.machine],
    ];
  }

  /** The row may not have been written: the next draft carries it again. */
  unwritten(): void {
    this.known = Number.NaN;
  }
}

const noRows: readonly Op[] = [];
const key = keys.meta('kernel/clock-lead');
/** Whose wall the lead was counted from. */
const machineKey = keys.meta('kernel/clock-machine');
/** Clocks are read one after the other and differ by a little. */
const skewMsMin = 1_000;
