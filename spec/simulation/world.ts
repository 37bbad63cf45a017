import type { Kind } from '../../actors/contracts.js';
import type { EventObject, Supervisor } from '../../lib/supervisor/contract.js';
import type { ActorKey } from '../../machines/outputs.js';
import type { Machine, SimulatedProcess } from './machine.js';
import type { Operation, Step } from './plan.js';

/** Who lives on the simulated machine: actors, the clients that use them, and what must be true of both. */
export interface World {
  /** Operations that were acknowledged so far. */
  readonly acknowledged: number;
  /** What clients have asked for lately may take so long once faults are over, ms. */
  readonly calmMs: number;
  /** The one who comes too late asks this one. */
  readonly anyone: { readonly actor: ActorKey; readonly event: EventObject };
  /** As of a version of the program. */
  kinds(version: 1 | 2): readonly Kind[];
  /** A process begins. */
  begin(process: SimulatedProcess): void;
  settleIn(supervisor: Supervisor, process: SimulatedProcess, version: 1 | 2): Promise<void>;
  /** Ask again for what was not answered in an earlier life. */
  again(supervisor: Supervisor, process: SimulatedProcess, passedMs: number): void;
  ask(
    supervisor: Supervisor,
    process: SimulatedProcess,
    passedMs: number,
    step: Step & { readonly do: Operation },
  ): void;
  /** Who should have been answered by now, where nothing has gone wrong since that time of the machine. */
  overdue(quietSince: number): string | undefined;
  /** A person lets halted actors go on, decides what waits, has dead letters tried again. */
  repair(supervisor: Supervisor): Promise<void>;
  read(supervisor: Supervisor): Promise<void>;
  /** Throws Broken. `settled`: nothing is owed any more. */
  check(supervisor: Supervisor, process: SimulatedProcess, settled: boolean): Promise<void>;
  /** A row of an inbox, an outbox or the index of timers that may lie there though all is at rest. */
  mayRest(key: string): boolean;
  /** What no row tells: of the far sides of connectors. */
  owes(supervisor: Supervisor): Promise<string[]>;
}

export const ofTheDisk = (error: unknown): boolean =>
  ['STORE_UNAVAILABLE', 'OUTCOME_UNKNOWN', 'EIO', 'ENOSPC'].includes((error as { code?: string }).code ?? '');

export type WorldOf = (machine: Machine) => World;
