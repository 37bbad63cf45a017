import type { ActorKey, Kind } from '../../actors/contracts.js';
import { system } from '../../machines/caller.js';
import { defaultSupervision, supervise, type Supervision } from '../../machines/supervisor/supervise.js';
import type { Store } from '../store/contract.js';
import { keys, partsOf, prefix } from '../store/keys.js';
import type { Environment } from '../environment.js';
import type { Cell, ActorCells } from './cells/actor-cells.js';
import type { DeadLetter } from './contract.js';
import type { DeadLetters } from './dead-letters.js';
import { seenBy, type Delivery } from './deliver.js';
import type { Failing } from './answers.js';
import { reasonOf } from './draft/stored-form.js';
import { Draft, type DraftKernel } from './draft/draft.js';
import type { AnyEventObject } from 'xstate';
import type { Logger } from 'pino';
import {
  reasonsOf,
  rootMachine,
  type RootContext,
  type RootStatus,
  type Subsystem,
} from '../../machines/root/machine.js';
import { begin, step } from './draft/step.js';

/**
 * Faults: what happens when our own code (or a host's) throws. The event is set aside as a dead letter at its
 * first throw, the actor goes back to its last commit, its supervisor's rules say what follows, and the
 * process stays up.
 */
export class Fault extends Error {
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

interface KernelParts extends DraftKernel {
  readonly environment: Environment;
  readonly store: Store;
  readonly cells: ActorCells;
  commit(draft: Draft, cells: readonly Cell[], settled: (error?: unknown) => void): void;
  readonly deadLetters: Pick<DeadLetters, 'rows'>;
  readonly deliverer: { failed(cell: Cell, kind: Kind, delivery: Delivery, error: unknown): void };
  /** Abort and start anew the keyed effects of an actor. */
  restartEffects(actor: ActorKey): void;
  /** A supervisor without a parent gave up. */
  escalated(actor: ActorKey, reason: string): void;
  /** None of those is halted any more. */
  recovered(): void;
}

export class Faults {
  /** Since start. */
  restarts = 0;
  private readonly restartsByKind = new Map<string, number>();
  /** By place of the record; the youngest failure last. */
  private readonly recent = new Map<string, Failing & { readonly kind: string }>();
  /** Halted actors for which the whole system answers. */
  private readonly gaveUp = new Set<string>();

  constructor(private readonly kernel: KernelParts) {}

  /** Log a fault and make it an error that callers may see. */
  fault(what: string, error: unknown): Fault {
    if (error instanceof Fault) return error;
    const faultId = this.kernel.environment.ids.next();
    this.kernel.environment.log.error({ faultId, err: error }, what);
    return new Fault(faultId, `${what}: ${reasonOf(error)}`, { cause: error });
  }

  restartsOf(kind: string): number {
    return this.restartsByKind.get(kind) ?? 0;
  }

  /** Actors of a kind with failures that still count, worst first. */
  failing(name: string): readonly Failing[] {
    const since = this.kernel.environment.clock.now() - specOf(this.kernel.kind(name)).periodSeconds * 1000;
    return [...this.recent.values()]
      .filter(({ kind, lastAt }) => kind === name && lastAt >= since)
      .map(({ kind: _kind, ...failing }) => failing)
      .sort((a, b) => b.failures - a.failures || b.lastAt - a.lastAt);
  }

  private remember(cell: Cell, failing: Failing): void {
    this.recent.delete(cell.key);
    this.recent.set(cell.key, { ...failing, kind: cell.kind });
    if (this.recent.size > recentMax) this.recent.delete(this.recent.keys().next().value as string);
  }

  /** An event made its actor throw. Called with the turn held; releases it. */
  deadLettered(cell: Cell, kind: Kind, delivery: Delivery, error: unknown): void {
    const fault = this.fault(`${cell.kind} ${cell.id} threw on "${delivery.event.type}"`, error);
    const failed = { type: 'failed', error: fault } as const;
    const { live } = cell;
    if (live === undefined || delivery.rehearse === true) {
      delivery.finished?.();
      delivery.answer?.(failed);
      return this.kernel.cells.release(cell);
    }
    const now = this.kernel.environment.clock.now();
    const spec = specOf(kind);
    const verdict = supervise(spec, [cell.id], live.failures, cell.id, false, now);
    const halted =
      verdict.type === 'restart' || verdict.type === 'drop'
        ? live.halted
        : {
            at: now,
            reason: `It failed ${verdict.failures.length} times within ${spec.periodSeconds} s; last: ${reasonOf(error)}`,
          };
    this.remember(cell, {
      id: cell.id,
      failures: verdict.failures.length,
      lastAt: now,
      until: verdict.type === 'restart' && verdict.delayMs > 0 ? now + verdict.delayMs : null,
      error: reasonOf(error),
    });
    // A timer is kept by its own event: its row is used up, and a retry must say what it would have said.
    const { event: seen, ended } = delivery.ended?.timer === undefined ? delivery : seenBy(delivery, live);
    const letter: Omit<DeadLetter, 'place'> = {
      id: fault.faultId,
      actor: { kind: cell.kind, id: cell.id },
      at: now,
      event: seen as never,
      faultId: fault.faultId,
      error: reasonOf(error),
    };
    const stageOf = (): Draft => {
      const made = new Draft(
        now,
        this.kernel.environment.clock.monotonic(),
        system('kernel'),
        delivery.cause,
        this.kernel,
      );
      made.ops.push(...this.kernel.deadLetters.rows(letter, delivery), ...(delivery.consume ?? []));
      return made;
    };
    let draft = stageOf();
    try {
      draft.overlay(
        kind,
        cell.id,
        live,
        { type: 'kernel.dead-letter', faultId: fault.faultId, error: letter.error, event: seen.type },
        { failures: verdict.failures, halted },
        ended,
      );
    } catch (problem) {
      // the kind cannot even be indexed: the letter alone is written
      this.fault(`the failure of ${cell.kind} ${cell.id} could not be written into its record`, problem);
      draft = stageOf();
    }
    this.kernel.commit(draft, [], (failure) => {
      this.kernel.cells.forget(
        cell,
        verdict.type === 'restart' && failure === undefined ? verdict.delayMs : 0,
      );
      if (failure === undefined) delivery.finished?.();
      else this.kernel.deliverer.failed(cell, kind, delivery, failure);
      delivery.answer?.(failed);
      this.kernel.cells.release(cell);
      if (failure !== undefined) return;
      if (verdict.type === 'restart')
        this.restart(kind, cell, spec).catch((problem: unknown) => this.fault('a restart failed', problem));
      if (verdict.type === 'escalate') this.escalate(cell, live.parent, halted?.reason ?? '');
    });
  }

  /** A person has resumed an actor. */
  resumed({ kind, id }: ActorKey): void {
    this.recent.delete(keys.actor(kind, id));
    if (this.gaveUp.delete(keys.actor(kind, id)) && this.gaveUp.size === 0) this.kernel.recovered();
  }

  /**
   * Siblings that the strategy restarts along with the failed one: memory is dropped, keyed effects start
   * anew.
   */
  private async restart(kind: Kind, cell: Cell, spec: Supervision): Promise<void> {
    this.count(kind.kind);
    if (spec.strategy === 'one_for_one') return;
    const { parent } = (await this.kernel.cells.read(cell.kind, cell.id)) ?? {};
    if (!parent) return;
    const rows = await this.kernel.store.page(prefix(`p/${parent.kind}/${parent.id}/${kind.kind}/`));
    const siblings = rows.map(([key]) => partsOf(key)[4] as string);
    const now = this.kernel.environment.clock.now();
    const verdict = supervise(spec, await this.inStartOrder(kind.kind, siblings), [], cell.id, false, now);
    if (verdict.type !== 'restart') return;
    for (const id of [...verdict.ids].reverse()) {
      if (id === cell.id) continue;
      this.count(kind.kind);
      this.kernel.cells.enter(kind.kind, id, {
        run: (sibling) => {
          this.kernel.cells.forget(sibling, verdict.delayMs);
          this.kernel.cells.release(sibling);
          this.kernel.restartEffects({ kind: kind.kind, id });
        },
        fail: (error) => {
          this.fault(`${kind.kind} ${id} could not be restarted`, error);
        },
        urgent: true,
      });
    }
  }

  private count(kind: string): void {
    this.restarts += 1;
    this.restartsByKind.set(kind, (this.restartsByKind.get(kind) ?? 0) + 1);
  }

  private async inStartOrder(kind: string, ids: readonly string[]): Promise<string[]> {
    const born = await Promise.all(
      ids.map(async (id) => ({ id, at: (await this.kernel.cells.read(kind, id))?.createdAt ?? 0 })),
    );
    return born.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
  }

  private escalate(cell: Cell, parent: ActorKey | null, reason: string): void {
    if (parent === null) {
      this.gaveUp.add(cell.key);
      return this.kernel.escalated(cell, reason);
    }
    const kind = this.kernel.kind(parent.kind);
    this.kernel.cells.enter(parent.kind, parent.id, {
      run: (above) =>
        this.deadLettered(
          above,
          kind,
          {
            event: { type: 'kernel.child-gave-up', child: { kind: cell.kind, id: cell.id } },
            by: system('kernel'),
            cause: null,
          },
          new Error(`its child ${cell.kind} ${cell.id} gave up: ${reason}`),
        ),
      fail: (error) => {
        this.fault(`${parent.kind} ${parent.id} could not be notified that its child gave up`, error);
      },
      urgent: true,
    });
  }
}

const recentMax = 1_000;

const specOf = (kind: Kind): Supervision => ({ ...defaultSupervision, ...kind.supervision });

/**
 * The root of the supervision tree, as its machine draws it. It lives in memory only: it must be able to say
 * that the store is down while the store is down. Every change is logged and told to those who listen.
 */
export class RootSystem {
  private snapshot = begin(rootMachine, {}).snapshot;
  private readonly listeners = new Set<(status: RootStatus, reasons: readonly string[]) => void>();

  constructor(
    private readonly log: Logger,
    private readonly now: () => number,
  ) {}

  get state(): RootStatus {
    return this.snapshot.value as RootStatus;
  }
  get failing(): RootContext['failing'] {
    return (this.snapshot.context as RootContext).failing;
  }
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
  draining(): void {
    this.send({ type: 'drain.begin' });
  }
  stopped(): void {
    this.send({ type: 'drain.finished' });
  }

  onChange(listener: (status: RootStatus, reasons: readonly string[]) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  private send(event: AnyEventObject): void {
    const before = this.state;
    this.snapshot = step(rootMachine, this.snapshot, {
      ...event,
      at: this.now(),
      by: system('kernel'),
    }).snapshot;
    if (event.type !== 'subsystem.failed' && this.state === before) return;
    this.log[this.state === 'degraded' ? 'warn' : 'info'](
      { from: before, to: this.state, reasons: this.reasons },
      'root system changed',
    );
    for (const listener of this.listeners) listener(this.state, this.reasons);
  }
}
