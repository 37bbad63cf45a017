import type { AnyEventObject } from 'xstate';
import type { Logger } from 'pino';
import { system } from '../../machines/caller.js';
import {
  reasonsOf,
  rootMachine,
  type RootContext,
  type RootStatus,
  type Subsystem,
} from '../../machines/root/machine.js';
import { begin, step } from './step.js';

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
