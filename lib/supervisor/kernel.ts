import type { ActorKey, Kind } from '../../actors/contracts.js';
import { system } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';
import type { Refusal } from '../../machines/refusals.js';
import type { Op, Store } from '../store/contract.js';
import { keys } from '../store/keys.js';
import type { SystemWorld } from '../world.js';
import { Births } from './births.js';
import { Cells, type Cell } from './cells.js';
import { Committer } from './committer.js';
import type { Limits, ProgressFrame } from './contract.js';
import { Counters } from './counters.js';
import { Deliverer, type Delivery } from './deliver.js';
import { Effects, type OutboxRow } from './effects.js';
import { Faults, type Fault } from './faults.js';
import { Inbox } from './inbox.js';
import type { Start } from './interpret.js';
import type { Live } from './live.js';
import { Log } from './log.js';
import { Plans } from './turns.js';
import { decodeRecord } from './record.js';
import { Stage, type StageHouse } from './stage.js';
import { Wheel } from './wheel.js';

/**
 * The parts of the kernel and the one way between them: deliver → decide (stage) → commit → release. What an event
 * asked for (effects, messages, timers, answers) is let go in `release`, after the fsync, and nowhere else.
 */
export class Kernel implements StageHouse {
  readonly cells: Cells;
  readonly committer: Committer;
  readonly deliverer: Deliverer;
  readonly effects: Effects;
  readonly wheel: Wheel;
  readonly faults: Faults;
  readonly plans: Plans;
  readonly inbox: Inbox;
  readonly log: Log;
  readonly counters: Counters;
  readonly births: Births;
  /** Who waits for something that will not happen any more once the supervisor has stopped. */
  readonly closing = new Set<() => void>();
  readonly progressListeners = new Set<(frame: ProgressFrame) => void>();
  /** Events committed since start. */
  events = 0;
  /** Values that `facts` functions see. */
  facts_: Readonly<Record<string, unknown>>;
  readonly snapshotBytesMax: number;
  /** A top-level actor gave up, and a person resumed the last of those that had. */
  escalated: (actor: ActorKey, reason: string) => void = () => undefined;
  recovered: () => void = () => undefined;

  constructor(
    readonly world: SystemWorld, readonly store: Store, private readonly kinds: ReadonlyMap<string, Kind>,
    readonly limits: Limits, facts: Readonly<Record<string, unknown>>, private readonly floor: () => number,
  ) {
    this.facts_ = facts;
    this.snapshotBytesMax = limits.snapshotBytesMax;
    this.log = new Log(store, floor);
    this.counters = new Counters(store);
    this.births = new Births(store);
    this.committer = new Committer(store, { groupsInFlightMax: 2, groupStagesMax: 512 }, (entries) => {
      this.events += entries.length;
      this.log.published(entries);
    });
    this.cells = new Cells({
      awakeActorsMax: limits.awakeActorsMax, mailboxMax: limits.mailboxMax, steady: () => world.steady(),
      timeout: (ms, callback) => { world.timeout(ms, callback); }, load: (kind, id) => this.load(kind, id),
    });
    this.faults = new Faults(this);
    this.deliverer = new Deliverer(this);
    this.plans = new Plans(this);
    this.inbox = new Inbox(store, this.cells, this.deliverer, (to, delivery) => this.deliver(to, delivery));
    this.effects = new Effects({
      write: (key, row) => this.writeOps([[key, row === null ? null : JSON.stringify(row)]]),
      settle: (actor, start, outboxKey, event) => this.settleEffect(actor, start, outboxKey, event),
      tell: (actor, event, cause) => this.tell(actor, event, cause),
      progress: (actor, event, payload) => this.progress(actor, event, payload),
      rows: async (actor, collection, last) => (await this.rows(actor, collection, last)).map(({ row }) => row),
      fault: (what, error) => { this.fault(what, error); },
    });
    this.wheel = new Wheel(world, store, ({ kind, id, timer, due }) => this.fireTimer(kind, id, timer, due), (error) => this.fault('the timers could not be read', error));
  }

  get logFloor(): number { return this.floor(); }
  now(): number { return this.world.now(); }
  steady(): number { return this.world.steady(); }
  counter(name: string): { next(): number; readonly op: () => Op } { return this.counters.of(name); }
  peek(key: string): Promise<string | undefined> { return this.store.get(keys.meta(`plan/${key}`)); }

  kind(name: string): Kind {
    const kind = this.kinds.get(name);
    if (kind === undefined) throw new TypeError(`there is no kind of actor called "${name}"; known: ${[...this.kinds.keys()].join(', ')}`);
    return kind;
  }

  allKinds(): readonly Kind[] { return [...this.kinds.values()]; }

  facts(kind: Kind, live: Live | undefined, event: { readonly type: string }): Json | undefined {
    return kind.facts?.(live?.snapshot, event, this.facts_);
  }

  fault(what: string, error: unknown): Fault { return this.faults.fault(what, error); }
  poisoned(cell: Cell, kind: Kind, delivery: Delivery, error: unknown): void { this.faults.poisoned(cell, kind, delivery, error); }

  /** Refusals are not written; watchers hear of them as they happen. */
  refused(cell: Cell, delivery: Delivery, refusal: Refusal): void {
    if (this.progressListeners.size === 0) return;
    this.progress({ kind: cell.kind, id: cell.id }, 'refusal', { event: delivery.event.type, code: refusal.code, message: refusal.message });
  }

  commit(stage: Stage, held: readonly Cell[], settled: (error?: unknown) => void): void {
    this.committer.submit(stage, (error) => {
      this.births.settled(stage);
      if (error === undefined) this.adopt(stage);
      try {
        settled(error);
      } catch (problem) { // a host's view or predicate that throws while it is answered must not hold up the others
        this.fault('an answer could not be given', problem);
      }
      for (const cell of held) this.cells.release(cell);
      if (error === undefined) this.release(stage);
    });
  }

  /** Write rows that need no decision (outbox notes, expired keys). */
  writeOps(ops: readonly Op[]): Promise<void> {
    const stage = new Stage(this.now(), this.steady(), system('kernel'), null, this);
    stage.ops.push(...ops);
    return new Promise((resolve, reject) => this.commit(stage, [], (error) => error === undefined ? resolve() : reject(error)));
  }

  progress(actor: ActorKey, event: string, payload: Json): void {
    if (this.progressListeners.size === 0) return;
    const frame = { actor, event, payload, at: this.now() };
    for (const listener of this.progressListeners) {
      try { listener(frame); } catch (error) { this.fault('a progress listener threw', error); }
    }
  }

  async rows(actor: ActorKey, collection: string, last?: number): Promise<{ n: number | string; row: Json }[]> {
    const start = keys.row(collection, actor.kind, actor.id, '');
    const page = await this.store.page({ gte: start, lt: `${start}\x7f`, reverse: true, limit: Math.min(last ?? 1000, 1000) });
    return page.reverse().map(([key, value]) => ({ n: rowNumber(key.slice(start.length)), row: JSON.parse(value) as Json }));
  }

  /** An outbox row of an earlier life or generation: start it, let it recover, or clean up after one whose state was left. Decided with the turn held. */
  takeUp(actor: ActorKey, key: string, row: OutboxRow): Promise<void> {
    const kind = this.kind(actor.kind);
    const start: Start = { key, src: row.src, callId: row.callId, input: row.input };
    return new Promise((resolve, reject) => {
      this.cells.enter(actor.kind, actor.id, {
        urgent: true, fail: reject,
        run: (cell) => {
          const current = cell.live?.calls[row.callId]?.key === key;
          if (current) void this.effects.start(kind, actor, start, row.note);
          this.cells.release(cell);
          resolve(current ? undefined : this.effects.sweep(kind, actor, start, row.note));
        },
      });
    });
  }

  private async load(kind: string, id: string): Promise<Live | undefined> {
    const text = await this.store.get(keys.actor(kind, id));
    return text === undefined ? undefined : decodeRecord(this.kind(kind), text);
  }

  private adopt(stage: Stage): void {
    for (const { kind, id, live } of stage.next.values()) this.cells.adopt(kind.kind, id, live, (error) => this.fault(`an observer of ${kind.kind} ${id} threw`, error));
  }

  /** After the commit: start and leave effects, arm timers, deliver messages. */
  private release(stage: Stage): void {
    stage.asked.forEach((asked, index) => {
      const { actor } = asked;
      const seq = stage.tx + index;
      for (const call of asked.left) this.effects.leave(actor, call.key);
      for (const start of asked.started) void this.effects.start(this.kind(actor.kind), actor, start);
      for (const { call, event } of asked.signals) this.effects.signal(actor, call.key, event);
      for (const { id, timer } of asked.armed) this.wheel.armed({ due: timer.due, kind: actor.kind, id: actor.id, timer: id });
      asked.messages.forEach(({ to, event }, at) => this.inbox.post(to, keys.inbox(to.kind, to.id, seq, at), { event, by: system(`${actor.kind}:${actor.id}`), cause: seq }));
    });
  }

  private deliver(to: ActorKey, delivery: Delivery): void {
    const kind = this.kinds.get(to.kind);
    if (kind === undefined) { this.fault(`a message for the unknown kind "${to.kind}" stays in the inbox of ${to.id}`, new TypeError('unknown kind')); return; }
    this.deliverer.deliver(kind, to.id, delivery, true);
  }

  private settleEffect(actor: ActorKey, start: Start, outboxKey: string, event: { type: string }): void {
    this.deliver(actor, {
      event, by: system(`effect:${start.src}`), cause: `effect:${start.key}`, consume: [[outboxKey, null]], ended: { call: start.callId },
      fresh: (live) => live.calls[start.callId]?.key === start.key,
    });
  }

  private tell(actor: ActorKey, event: { readonly type: string }, cause: string): Promise<void> {
    return new Promise((resolve, reject) => this.deliver(actor, {
      event, by: system(cause), cause,
      answer: (outcome) => outcome.type === 'failed' ? reject(outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error))) : resolve(),
    }));
  }

  private fireTimer(kind: string, id: string, timer: string, due: number): void {
    const consume: Op[] = [[keys.timer(due, kind, id, timer), null]];
    this.deliver({ kind, id }, {
      event: { type: 'kernel.timer' }, by: system('timer'), cause: 'timer', consume, ended: { timer },
      fresh: (live) => live.timers[timer]?.due === due,
    });
  }

  /** Abort an actor's keyed effects and run them anew under the same keys. */
  restartEffects(actor: ActorKey): void {
    void (async () => {
      const kind = this.kind(actor.kind);
      const prefix = keys.outbox(actor.kind, actor.id, '');
      for (const [key, value] of await this.store.page({ gte: prefix, lt: `${prefix}\x7f` })) {
        const row = JSON.parse(value) as OutboxRow;
        if (kind.hands?.[row.src]?.fence === false) {
          const call = key.slice(prefix.length);
          await this.effects.halt(actor, call);
          await this.takeUp(actor, call, row); // its state may have been left while it was aborted
        }
      }
    })().catch((error: unknown) => this.fault(`the effects of ${actor.kind} ${actor.id} could not be restarted`, error));
  }
}

const rowNumber = (part: string): number | string => /^\d{16}$/.test(part) ? Number(part) : decodeURIComponent(part);
