import type { Group, Op, Store } from '../store/contract.js';
import { keys } from '../store/keys.js';
import { ClockLead } from './clock-lead.js';
import { sealDraft } from './entry.js';
import { encodeRecord } from './record.js';
import type { Stage } from './stage.js';
import { Tallies, type Change } from './tallies.js';

/**
 * The one hand that writes. Stages that are ready at the same moment become one group: one batch, one fsync. While
 * a group is on its way to disk the next one gathers, so that the group grows with the load and a lone event never waits.
 */
export class Committer {
  readonly tallies: Tallies;
  readonly lead: ClockLead;
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
    private readonly limits: { readonly groupsInFlightMax: number; readonly groupStagesMax: number },
    /** Called in log order with the sealed entries of each durable group. */
    private readonly published: (entries: readonly Sealed[]) => void,
  ) {
    this.tallies = new Tallies(store);
    this.lead = new ClockLead(store);
    this.seq = store.head.seq;
    this.chain = store.head.chain;
  }

  /** Position of the last durable entry. */
  get head(): number { return this.store.head.seq; }
  get idle(): boolean { return this.waiting.length === 0 && this.inFlight === 0; }

  /** `settled()` after the fsync, in commit order; or with the error, and then nothing of the stage was written. */
  submit(stage: Stage, settled: (error?: unknown) => void): void {
    this.waiting.push({ stage, settled });
    // Enough for a group of its own: the disk begins while the rest is still being decided.
    if (this.waiting.length >= groupStagesFull && this.inFlight < this.limits.groupsInFlightMax) return this.flush();
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(this.flush);
  }

  private readonly flush = (): void => {
    this.scheduled = false;
    while (this.waiting.length > 0 && this.inFlight < this.limits.groupsInFlightMax && !this.broken) {
      // A second group in flight only pays when there is enough to fill it.
      if (this.inFlight > 0 && this.waiting.length < 16) return;
      const members = this.waiting.length <= this.limits.groupStagesMax ? this.waiting : this.waiting.slice(0, this.limits.groupStagesMax);
      this.waiting = this.waiting.slice(members.length);
      this.write(members);
    }
  };

  private write(members: readonly Pending[]): void {
    const sealed: Sealed[] = [];
    const changes = changesOf(members);
    const group = this.seal(members, sealed);
    for (const op of this.tallies.seal(changes)) (group.ops as Op[]).push(op);
    this.inFlight += 1;
    this.store.write(group).then(
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

  private seal(members: readonly Pending[], sealed: Sealed[]): Group {
    const ops: Op[] = [];
    const first = this.seq + 1;
    for (const { stage } of members) this.sealStage(stage, ops, sealed);
    return { first, last: this.seq, chain: this.chain, ops };
  }

  private sealStage(stage: Stage, ops: Op[], sealed: Sealed[]): void {
    const { entries } = stage;
    const tx = this.seq + 1;
    stage.tx = tx;
    const led = this.lead.row(stage);
    if (led !== undefined) ops.push(led);
    for (const op of stage.ops) ops.push(op);
    const latest = new Map<string, { seq: number; base: number }>();
    for (let index = 0; index < entries.length; index += 1) {
      const draft = entries[index] as Stage['entries'][number];
      const own = stage.asked[index] as Stage['asked'][number];
      const seq = tx + index;
      const actor = keys.actor(own.actor.kind, own.actor.id);
      const before = latest.get(actor);
      const base = draft.whole ? seq : before?.base ?? draft.base;
      const row = sealDraft(draft, seq, tx, index === entries.length - 1, before?.seq ?? draft.prev, base, this.chain);
      latest.set(actor, { seq, base });
      this.chain = row.chain;
      ops.push([keys.log(seq), row.value]);
      sealed.push({ seq, value: row.value, actor: own.actor });
      own.messages.forEach((message, at) => ops.push([
        keys.inbox(message.to.kind, message.to.id, seq, at), `{"event":${message.text},"from":${JSON.stringify(own.actor)},"cause":${seq}}`,
      ]));
    }
    this.seq += entries.length;
    for (const staged of stage.next.values()) {
      const placed = { ...staged.live, ...latest.get(staged.key) };
      staged.live = placed;
      ops.push([staged.key, encodeRecord(staged.kind, staged.id, placed, staged.state)]);
    }
  }

  private done(members: readonly Pending[], sealed: readonly Sealed[], error: unknown): void {
    this.inFlight -= 1;
    if (error === undefined) {
      this.groups += 1;
      this.commits += members.length;
      if (sealed.length > 0) this.published(sealed);
    } else {
      this.broken = true;
    }
    for (const { settled } of members) settled(error);
    if (this.broken && this.inFlight === 0) this.rewind(error);
    if (this.waiting.length > 0) this.flush();
  }

  /** After a failed write everything that was staged on top of it is void: start again from what survived. */
  private rewind(error: unknown): void {
    const void_ = this.waiting;
    this.waiting = [];
    this.seq = this.store.head.seq;
    this.chain = this.store.head.chain;
    this.broken = false;
    for (const { settled } of void_) settled(error);
  }
}

/** Measured with 64 in flight: halves keep disk and processor busy at the same time, quarters cost more than they save. */
const groupStagesFull = 32;

const none: Change = new Map();

/** What the stages of a group change in sum. */
function changesOf(members: readonly Pending[]): Change {
  let sum: Map<string, number> | undefined;
  for (const { stage } of members) {
    for (const [key, change] of stage.tallies) (sum ??= new Map()).set(key, (sum.get(key) ?? 0) + change);
  }
  return sum ?? none;
}

interface Pending {
  readonly stage: Stage;
  readonly settled: (error?: unknown) => void;
}

/** A log entry as written. */
export interface Sealed {
  readonly seq: number;
  readonly value: string;
  readonly actor: { readonly kind: string; readonly id: string };
}
