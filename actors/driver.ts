import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Json } from '../machines/outputs.js';

/**
 * What the kernel needs of a state machine library: pure steps whose actions come back as data. One file per
 * major of XState provides it. The kernel sees machines and snapshots as XState 5 types them, and gives a driver of
 * another major only what it made itself.
 */
export interface Driver<Machine = AnyStateMachine, Snapshot = AnyMachineSnapshot> {
  /** The major of XState: kinds and the child kinds that they name are of the same one. */
  readonly major: number;
  /** First snapshot of a machine. Throws what the machine's context factory or entry actions throw. */
  begin(machine: Machine, input: unknown): Step<Snapshot>;
  /** One macrostep. Throws what guards and assigners throw; the snapshot given is never changed. */
  step(machine: Machine, snapshot: Snapshot, event: AnyEventObject): Step<Snapshot>;
  /** Whether any state takes the event now, without stepping. Throws what guards throw. */
  takes(machine: Machine, snapshot: Snapshot, event: AnyEventObject): boolean;
  /** The events that its states name now, XState's own among them; none once it has ended. */
  events(snapshot: Snapshot): readonly string[];
  /** A snapshot as plain data, ready for the codec. The context may be shared with the snapshot. */
  persist(machine: Machine, snapshot: Snapshot): Persisted;
  /**
   * Back to a living snapshot with inert children (id → src). `persisted` must be the caller's own copy. Throws on
   * unknown states.
   */
  restore(machine: Machine, persisted: Persisted, children: Readonly<Record<string, string>>): Snapshot;
  /** What is wrong with the machine of a kind; without it the checks for XState 5. */
  problems?(kind: DrivenKind<Machine>): Iterable<string>;
}

/** An actor as stored by XState: what `migrate` functions receive and return. */
export interface Persisted {
  /** XState value, e.g. `{ open: 'waiting' }`. */
  readonly value: Json;
  /** The machine's context, as JSON. */
  readonly context: Record<string, Json>;
  /** Default `active`. */
  readonly status?: 'active' | 'done' | 'error';
  /** What a final state gave. */
  readonly output?: Json;
  /** Where regions with history stood when they were left. */
  readonly historyValue?: Json;
  /** What the driver of another major keeps beside it: logical timers, the machine's own version. */
  readonly extra?: Json;
}

/** What the checks of a driver read of a kind. */
export interface DrivenKind<Machine = AnyStateMachine> {
  readonly machine: Machine;
  readonly effects?: Readonly<Record<string, unknown>>;
  readonly childKinds?: Readonly<Record<string, string>>;
}

/** What a step asked for, in XState's order. */
export type Action =
  | {
      readonly type: 'start';
      /** Without one it is an action that nothing waits for: it runs once the step is committed. */
      readonly id: string | undefined;
      readonly src: string;
      readonly input: unknown;
      readonly systemId: string | undefined;
    }
  | { readonly type: 'stop'; readonly id: string }
  /** Without an id of its own it can be neither cancelled nor replaced. */
  | {
      readonly type: 'timer';
      readonly id: string | undefined;
      readonly event: AnyEventObject;
      readonly delayMs: number;
      readonly target: string;
    }
  | { readonly type: 'cancel'; readonly id: string }
  | { readonly type: 'send'; readonly target: string; readonly event: AnyEventObject }
  | { readonly type: 'emit'; readonly event: AnyEventObject };

export interface Step<Snapshot = AnyMachineSnapshot> {
  readonly snapshot: Snapshot;
  readonly actions: readonly Action[];
  /** Some transition was taken. An event that no state takes changes nothing. */
  readonly taken: boolean;
}

/** Targets of `send` and `timer` that are not children. */
export const selfTarget = '#self';
export const parentTarget = '#parent';
/** Ids of calls that begin with it are actions: no child of the machine, and nothing waits for their end. */
export const actionCallPrefix = '#';
