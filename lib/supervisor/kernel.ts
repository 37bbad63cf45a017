import type { ActorKey, Kind } from '../../actors/contracts.js';
import { system } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import type { Refusal } from '../../machines/refusals.js';
import { StoreError, type Op, type Store } from '../store/contract.js';
import { keys } from '../store/keys.js';
import type { Environment } from '../environment.js';
import { Backlog } from './backlog.js';
import { IdReservations } from './id-reservations.js';
import { ActorCells, type Cell } from './cells/actor-cells.js';
import { Committer } from './committer.js';
import type { Limits, ProgressFrame } from './contract.js';
import { Sequences } from './totals.js';
import { DeadLetters } from './dead-letters.js';
import { Deliverer, type Delivery, Dispatch } from './deliver.js';
import { Effects, type OutboxRow, youngestRows } from './effects.js';
import { Faults, type Fault } from './failures.js';
import { Inbox } from './inbox.js';
import { Intake } from './cells/intake.js';
import { IndexGenerations } from './housekeeping/index-generations.js';
import type { Start } from './draft/actions.js';
import type { ActorState } from './draft/actor-state.js';
import { Log } from './event-log.js';
import { Transactions } from './transaction.js';
import { decodeRecord } from './draft/stored-form.js';
import { RetentionClock } from './housekeeping/retention-clock.js';
import { Draft, type DraftKernel } from './draft/draft.js';
import { Watchdog } from './cells/watchdog.js';
import { TimerWheel } from './timers.js';

/**
 * The parts of the kernel and the one way between them: deliver → decide (stage) → commit → release. What an
 * event asked for (effects, messages, timers, answers) is let go in `release`, after the fsync, and nowhere
 * else.
 */
export class Kernel implements DraftKernel {
  readonly watchdog: Watchdog<Cell>;
  readonly cells: ActorCells;
  readonly intake = new Intake();
  readonly backlog: Backlog = new Backlog(this);
  private readonly dispatch: Dispatch = new Dispatch(this);
  readonly committer: Committer;
  readonly deliverer: Deliverer;
  readonly effects: Effects;
  readonly timers: TimerWheel;
  readonly faults: Faults;
  readonly deadLetters: DeadLetters;
  readonly transactions: Transactions;
  readonly inbox: Inbox;
  readonly log: Log;
  readonly sequences: Sequences;
  readonly reservations: IdReservations;
  /** By which things are forgotten. */
  readonly retention: RetentionClock;
  readonly generations: IndexGenerations;
  /** Who waits for something that will not happen any more once the supervisor has stopped. */
  readonly closing = new Set<() => void>();
  readonly progressListeners = new Set<(frame: ProgressFrame) => void>();
  /** Events committed since start. */
  events = 0;
  /** Values that `facts` functions see. */
  factValues: Readonly<Record<string, unknown>>;
  readonly snapshotBytesMax: number;
  /** A top-level actor gave up, and a person resumed the last of those that had. */
  escalated: (actor: ActorKey, reason: string) => void = () => undefined;
  recovered: () => void = () => undefined;

  constructor(
    readonly environment: Environment,
    readonly store: Store,
    private readonly kinds: ReadonlyMap<string, Kind>,
    readonly limits: Limits,
    facts: Readonly<Record<string, unknown>>,
    private readonly floor: () => number,
  ) {
    this.factValues = facts;
    this.snapshotBytesMax = limits.snapshotBytesMax;
    this.retention = new RetentionClock(environment, store);
    this.generations = new IndexGenerations(
      store,
      () => this.allKinds(),
      (ops) => this.writeOps(ops),
    );
    this.log = new Log(store, floor);
    this.sequences = new Sequences(store);
    this.reservations = new IdReservations(store);
    this.committer = new Committer(
      store,
      { groupsInFlightMax: 2, groupDraftsMax: 512 },
      (entries) => {
        this.events += entries.length;
        this.log.published(entries);
      },
      (what, error) => {
        this.fault(what, error);
      },
    );
    this.watchdog = new Watchdog({
      steady: () => environment.clock.monotonic(),
      timeout: (ms, callback) => environment.clock.timeout(ms, callback),
      nudge: (cell) => this.cells.nudge(cell),
      log: environment.log,
    });
    this.cells = new ActorCells({
      watchdog: this.watchdog,
      awakeActorsMax: limits.awakeActorsMax,
      mailboxMax: limits.mailboxMax,
      steady: () => environment.clock.monotonic(),
      timeout: (ms, callback) => {
        environment.clock.timeout(ms, callback);
      },
      load: (kind, id) => this.load(kind, id),
      owes: (key) => this.backlog.owes(key),
      backlog: (actor) => this.backlog.read(actor),
    });
    this.faults = new Faults(this);
    this.deliverer = new Deliverer(this);
    this.transactions = new Transactions(this);
    this.inbox = new Inbox(
      store,
      this.cells,
      this.deliverer,
      (to, delivery) => this.dispatch.post(to, delivery),
      (name) => this.kind(name),
      (what, error) => this.fault(what, error),
    );
    this.deadLetters = new DeadLetters(this);
    this.effects = new Effects({
      write: (key, row) => this.writeOps([[key, JSON.stringify(row)]]),
      remove: (key) => this.remove(key),
      settle: (actor, start, outboxKey, event) => this.settleEffect(actor, start, outboxKey, event),
      tell: (actor, event, cause) => this.tell(actor, event, cause),
      progress: (actor, event, payload) => this.progress(actor, event, payload),
      rows: (actor, collection, last) => youngestRows(store, actor, collection, last),
      fault: (what, error) => {
        this.fault(what, error);
      },
    });
    this.timers = new TimerWheel(
      environment,
      store,
      ({ kind, id, timer, due }) => this.fireTimer(kind, id, timer, due),
      (error) => this.fault('timers could not be read', error),
      this.intake,
    );
    this.intake.add(() => this.backlog.next());
  }

  get logFloor(): number {
    return this.floor();
  }
  now(): number {
    return this.environment.clock.now();
  }
  steady(): number {
    return this.environment.clock.monotonic();
  }
  counter(name: string): { next(): number; readonly op: () => Op } {
    return this.sequences.of(name);
  }
  peek(key: string): Promise<string | undefined> {
    return this.store.get(keys.meta(`plan/${key}`));
  }

  kind(name: string): Kind {
    const kind = this.kinds.get(name);
    if (kind === undefined)
      throw new TypeError(`unknown kind "${name}"; known: ${[...this.kinds.keys()].join(', ')}`);
    return kind;
  }

  knows(name: string): boolean {
    return this.kinds.has(name);
  }

  allKinds(): readonly Kind[] {
    return [...this.kinds.values()];
  }

  facts(kind: Kind, live: ActorState | undefined, event: { readonly type: string }): Json | undefined {
    return kind.facts?.(live?.snapshot, event, this.factValues);
  }

  fault(what: string, error: unknown): Fault {
    return this.faults.fault(what, error);
  }
  deadLettered(cell: Cell, kind: Kind, delivery: Delivery, error: unknown): void {
    this.faults.deadLettered(cell, kind, delivery, error);
  }

  /** Refusals are not written; watchers hear of them as they happen. */
  refused(cell: Cell, delivery: Delivery, refusal: Refusal): void {
    if (this.progressListeners.size === 0) return;
    this.progress({ kind: cell.kind, id: cell.id }, 'refusal', {
      event: delivery.event.type,
      code: refusal.code,
      message: refusal.message,
    });
  }

  commit(draft: Draft, held: readonly Cell[], settled: (error?: unknown) => void): void {
    this.committer.submit(draft, (error) => {
      try {
        this.reservations.settled(draft);
        if (error === undefined) this.adopt(draft);
        settled(error);
      } catch (problem) {
        // a host's view or predicate that throws while it is answered must not hold up the others
        this.fault('reply could not be delivered', problem);
      } finally {
        for (const cell of held) this.cells.release(cell);
      }
      if (error === undefined) this.release(draft);
    });
  }

  /** Write rows that need no decision (outbox notes, expired keys). */
  writeOps(ops: readonly Op[]): Promise<void> {
    const draft = new Draft(this.now(), this.steady(), system('kernel'), null, this);
    draft.ops.push(...ops);
    return new Promise((resolve, reject) =>
      this.commit(draft, [], (error) => (error === undefined ? resolve() : reject(error))),
    );
  }

  /** Take away a row that nothing else will come for in this life: while the store cannot write, it is tried again. */
  private remove(key: string): Promise<void> {
    return this.writeOps([[key, null]]).catch((error: unknown) => {
      if (!(error instanceof StoreError) || this.cells.isClosed) throw error;
      return new Promise((resolve, reject) => {
        this.environment.clock.timeout(removeAgainMs, () => void this.remove(key).then(resolve, reject));
      });
    });
  }

  progress(actor: ActorKey, event: string, payload: Json): void {
    if (this.progressListeners.size === 0) return;
    const frame = { actor, event, payload, at: this.now() };
    for (const listener of this.progressListeners) {
      try {
        listener(frame);
      } catch (error) {
        this.fault('progress listener threw', error);
      }
    }
  }

  /**
   * An outbox row of an earlier life or generation: start it, let it recover, or clean up after one whose
   * state was left. Decided with the turn held.
   */
  resumeEffect(actor: ActorKey, key: string, row: OutboxRow): Promise<void> {
    const kind = this.kind(actor.kind);
    const start: Start = { key, src: row.src, callId: row.callId, input: row.input };
    return new Promise((resolve, reject) => {
      this.cells.enter(actor.kind, actor.id, {
        urgent: true,
        fail: reject,
        run: (cell) => {
          const current = cell.live?.calls[row.callId]?.key === key;
          if (current) void this.effects.start(kind, actor, start, row.note);
          this.cells.release(cell);
          resolve(current ? undefined : this.effects.sweep(kind, actor, start, row.note));
        },
      });
    });
  }

  private async load(kind: string, id: string): Promise<ActorState | undefined> {
    const text = await this.store.get(keys.actor(kind, id));
    return text === undefined ? undefined : decodeRecord(this.kind(kind), text);
  }

  private adopt(draft: Draft): void {
    for (const { kind, id, live } of draft.next.values())
      this.cells.adopt(kind.kind, id, live, (error) =>
        this.fault(`an observer of ${kind.kind} ${id} threw`, error),
      );
  }

  /** After the commit: start and leave effects, arm timers, deliver messages. */
  private release(draft: Draft): void {
    draft.requested.forEach((asked, index) => {
      const { actor } = asked;
      const seq = draft.tx + index;
      for (const call of asked.left) this.effects.leave(actor, call.key);
      for (const start of asked.started) void this.effects.start(this.kind(actor.kind), actor, start);
      for (const { call, event } of asked.signals) this.effects.signal(actor, call.key, event);
      for (const { id, timer } of asked.armed)
        this.timers.armed({ due: timer.due, kind: actor.kind, id: actor.id, timer: id });
      asked.messages.forEach(({ to, event }, at) =>
        this.inbox.post(to, keys.inbox(to.kind, to.id, seq, at), {
          event,
          by: system(`${actor.kind}:${actor.id}`),
          cause: seq,
        }),
      );
    });
  }

  private settleEffect(actor: ActorKey, start: Start, outboxKey: string, event: { type: string }): void {
    this.dispatch.deliver(actor, {
      event,
      by: system(`effect:${start.src}`),
      cause: `effect:${start.key}`,
      consume: [[outboxKey, null]],
      ended: { call: start.callId },
      fresh: (live) => live.calls[start.callId]?.key === start.key,
    });
  }

  private tell(actor: ActorKey, event: { readonly type: string }, cause: string): Promise<void> {
    return new Promise((resolve, reject) =>
      this.dispatch.deliver(actor, {
        event,
        by: system(cause),
        cause,
        answer: (outcome) =>
          outcome.type === 'failed'
            ? reject(outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error)))
            : resolve(),
      }),
    );
  }

  private fireTimer(kind: string, id: string, timer: string, due: number): void {
    const consume: Op[] = [[keys.timer(due, kind, id, timer), null]];
    this.dispatch.admit(
      { kind, id },
      {
        event: { type: 'kernel.timer' },
        by: system('timer'),
        cause: 'timer',
        consume,
        ended: { timer },
        fresh: (live) => live.timers[timer]?.due === due,
      },
    );
  }

  /** Abort an actor's keyed effects and run them anew under the same keys. */
  restartEffects(actor: ActorKey): void {
    this.backlog.restartEffects(actor);
  }
}

const removeAgainMs = 250;
