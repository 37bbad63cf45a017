import type { AnyEventObject } from 'xstate';
import type { ActorKey } from '../../actors/contracts.js';
import { system } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import {
  reasonsOf,
  rootMachine,
  type RootContext,
  type RootStatus,
  type Subsystem,
} from '../../machines/root/machine.js';
import type { Environment } from '../environment.js';
import type { Store } from '../store/contract.js';
import { ActorCells } from './cells/actor-cells.js';
import { Intake } from './cells/intake.js';
import { Ownership } from './ownership.js';
import type { Limits, ProgressFrame } from './contract.js';
import type { Kinds } from './draft/kinds.js';
import { reasonOf } from '../../machines/text.js';
import { xstate5 } from './draft/driver.js';
import { EventLog } from './event-log.js';
import { IndexGenerations } from './housekeeping/index-generations.js';
import { RetentionClock } from './housekeeping/retention-clock.js';

/**
 * What every part of the supervisor is given: the environment, the store, the kinds and limits, the actors in
 * memory, the log. Parts know the kernel and the parts below them, never one above: what comes back up comes
 * as a commit (`Commits.released`). supervisor.ts makes the kernel and the parts, in this order.
 */
export class Kernel {
  readonly root: RootSystem;
  readonly cells: ActorCells;
  readonly ownership: Ownership;
  readonly intake: Intake;
  readonly log: EventLog;
  /** The clock by which things are forgotten. */
  readonly retention: RetentionClock;
  readonly generations: IndexGenerations;
  /** Called at the stop: requests that wait for what will not happen any more. */
  readonly closing = new Set<() => void>();
  readonly progressListeners = new Set<(frame: ProgressFrame) => void>();

  constructor(
    readonly environment: Environment,
    readonly store: Store,
    readonly kinds: Kinds,
    readonly limits: Limits,
  ) {
    this.root = new RootSystem(environment);
    this.ownership = new Ownership(store, environment.clock);
    this.intake = new Intake(this.ownership);
    this.cells = new ActorCells(environment, store, kinds, limits);
    this.log = new EventLog(store);
    this.retention = new RetentionClock(environment, store);
    this.generations = new IndexGenerations(store, kinds);
  }

  /** Log a fault and make it an error that callers may see. */
  fault(what: string, error: unknown): Fault {
    if (error instanceof Fault) return error;
    const faultId = this.environment.ids.next();
    try {
      this.environment.log.error({ faultId, err: error }, what);
    } catch {
      this.environment.log.error({ faultId, err: reasonOf(error) }, what); // it cannot even be read
    }
    return new Fault(faultId, `${what}: ${reasonOf(error)}`, { cause: error });
  }

  /** A frame that is not durable: for those who watch now. */
  progress(actor: ActorKey, event: string, payload: Json): void {
    if (this.progressListeners.size === 0) return;
    const frame = { actor, event, payload, at: this.environment.clock.now() };
    for (const listener of this.progressListeners) {
      try {
        listener(frame);
      } catch (error) {
        this.fault('progress listener threw', error);
      }
    }
  }
}

/**
 * Our own code, or a host's, threw. A call rejects with it; the actor's state is that of before.
 * @example
 *   supervisor.ask('counter', 'c1', { type: 'add', n: 2 }).catch((error: unknown) => {
 *     if (error instanceof Fault) console.error(error.faultId);
 *   });
 */
export class Fault extends Error {
  /** Tells a fault of ours from other errors where `instanceof` cannot. */
  override readonly name = 'Fault';
  constructor(
    /** Found in the log. */
    readonly faultId: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/**
 * The root of the supervision tree, as its machine draws it. It lives in memory only: it must be able to say
 * that the store is down while the store is down. Every change is logged.
 */
export class RootSystem {
  private snapshot = xstate5.begin(rootMachine, {}).snapshot;
  /** As of the last change: every request asks for these two. */
  state = this.snapshot.value as RootStatus;
  failing = (this.snapshot.context as RootContext).failing;

  constructor(private readonly environment: Environment) {}

  get reasons(): readonly string[] {
    return reasonsOf(this.snapshot.context as RootContext);
  }

  booted(): void {
    this.send({ type: 'boot.finished' });
  }
  failed(name: Subsystem, reason: string): void {
    this.send({ type: 'subsystem.failed', name, reason });
  }
  recovered(name: Subsystem): void {
    this.send({ type: 'subsystem.recovered', name });
  }
  /** Another process owns the home: this one has ended, and says so. */
  lost(reason: string): void {
    this.failed('store', reason);
    this.draining();
    this.stopped();
  }
  draining(): void {
    this.send({ type: 'drain.begin' });
  }
  stopped(): void {
    this.send({ type: 'drain.finished' });
  }

  private send(event: AnyEventObject): void {
    const before = this.state;
    this.snapshot = xstate5.step(rootMachine, this.snapshot, {
      ...event,
      at: this.environment.clock.now(),
      by: system('kernel'),
    }).snapshot;
    this.state = this.snapshot.value as RootStatus;
    this.failing = (this.snapshot.context as RootContext).failing;
    if (event.type !== 'subsystem.failed' && this.state === before) return;
    this.environment.log[this.state === 'degraded' ? 'warn' : 'info'](
      { from: before, to: this.state, reasons: this.reasons },
      'root system changed',
    );
  }
}
