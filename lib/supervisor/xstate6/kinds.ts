// A machine of whatever actors and guards: only `any` takes them all, as XState's own AnyStateMachine does
// oxlint-disable typescript/no-explicit-any
import type { AnyEventObject, AnyStateMachine, MachineContext, StateMachine, StateValue } from 'xstate';
import { checkKind, type KindRules } from '../../../actors/define-kind.js';
import type { Effect, IndexRow, Kind, StandardSchema } from '../../../actors/contracts.js';
import type { Driver } from '../../../actors/driver.js';
import type { AnyKind } from '../../../actors/inference.js';
import type { RefusalMeaning } from '../../../machines/refusals.js';
import { driver6 } from './driver.js';
import type { Supervisor } from '../contract.js';
import { effectsOf } from './effects.js';
import { openExecution, type ExecutionAdapter, type ExecutionOptions } from './execution-adapter.js';
import type { Machine6, XState6 } from './library.js';

/** What XState 6 and its entry `xstate/durable` export, of the host's own copy. */
export interface XState6Library {
  /** Of `xstate`. */
  readonly createActor: (...given: never[]) => unknown;
  /** Of `xstate`. */
  readonly initialTransition: (...given: never[]) => unknown;
  /** Of `xstate`. */
  readonly isTypeSchema: (...given: never[]) => unknown;
  /** Of `xstate/durable`. */
  readonly createDurable: (...given: never[]) => unknown;
  /** Of `xstate`. */
  readonly deliverEvent: (...given: never[]) => unknown;
  /** Of `xstate`. */
  readonly stopActor: (...given: never[]) => unknown;
  /** Of `xstate`. */
  readonly terminateActor: (...given: never[]) => unknown;
}

/**
 * Kinds whose machines are of XState 6, by the host's own copy of it. Experimental, as 6 is: tried with
 * 6.0.0-alpha.52. Kinds of both majors may live in one supervisor; a child kind is of the major of its parent.
 * Its `defineKind` throws a TypeError that names what is wrong.
 *
 * @example
 *   import * as xstate from 'xstate6'; // npm install xstate6@npm:xstate@6.0.0-alpha.52
 *   import * as durable from 'xstate6/durable';
 *   import { xstate6 } from 'troupe/xstate6';
 *   const { defineKind } = xstate6({ ...xstate, ...durable });
 *   const machine = xstate.createMachine({ context: { total: 0 }, on: {} });
 *   const counter = defineKind({ kind: 'counter', version: 1, machine, view: ({ context }) => context });
 */
export function xstate6(library: XState6Library): XState6Kinds {
  const xstate = library as unknown as XState6; // the members that are used, as they are in the alpha it was tried with
  const driver = driver6(xstate) as unknown as Driver; // the kernel's types are those of 5
  return {
    driver,
    executionAdapter: (supervisor, options) => openExecution(xstate, supervisor, options),
    defineKind: (definition: object) => {
      const kind: AnyKind = { ...(definition as AnyKind), driver };
      const machine = kind.machine as Machine6;
      const schemas = kind.schemas ?? schemasOf(xstate, machine);
      const complete: AnyKind = {
        ...kind,
        effects: { ...withoutChildren(effectsOf(xstate, machine), kind), ...kind.effects },
        ...(schemas === undefined ? {} : { schemas }),
      };
      checkKind(complete);
      return complete as never; // the signature says what it is
    },
  };
}

/** What `xstate6` gives: kinds of a host's own XState 6, and the driver that steps them. */
export interface XState6Kinds {
  /** For a kind that is written without this `defineKind`. */
  readonly driver: Driver;
  /**
   * An adapter for those who drive `createDurable` themselves: its journal is a durable actor of `executionKind`, of
   * this supervisor. The same lines begin an execution and, after a crash, continue it.
   *
   * Rejects with a TypeError where the execution was begun by another machine or another version of it, with what
   * the supervisor refuses, and with its Faults.
   *
   * @example
   *   import * as xstate from 'xstate6';
   *   import * as durable from 'xstate6/durable';
   *   const { executionAdapter } = xstate6({ ...xstate, ...durable });
   *   const supervisor = await createSupervisor({ kinds: [executionKind], store });
   *   const logic = xstate.createMachine({ id: 'order', initial: 'over', states: { over: { type: 'final' } } });
   *   const adapter = await executionAdapter(supervisor, { id: 'order-1', logic });
   *   const output = await durable.createDurable(logic, adapter).run();
   */
  executionAdapter(supervisor: Supervisor, options: ExecutionOptions): Promise<ExecutionAdapter>;
  /**
   * `defineKind` for a machine of XState 6. Async logic in `setup({ actors })` and actions in `setup({ actions })`
   * are effects that the kind need not declare; the machine's Standard Schemas of events and input are the kind's.
   *
   * @throws TypeError with every fault of the definition
   */
  defineKind<
    M extends AnyMachine6,
    View,
    const Name extends string,
    const List extends IndexRow = never,
    const Code extends string = never,
    const Meanings extends Readonly<Record<string, RefusalMeaning>> = {},
    const Child extends string = never,
  >(
    kind: Definition6<M, View, Name, List, Code, Meanings, Child>,
  ): Kind<MachineOf<M>, View, Name, List, Code>;
}

/** A kind as it is written. What the machine does not bring is declared under `effects`. */
export type Definition6<
  M extends AnyMachine6,
  View,
  Name extends string,
  List extends IndexRow,
  Code extends string,
  Meanings extends Readonly<Record<string, RefusalMeaning>>,
  Child extends string,
> = KindRules<MachineOf<M>, View, Name, List, Code, Meanings, Child> & {
  /** Of XState 6. */
  readonly machine: M;
  /** What the machine does not bring. */
  readonly effects?: EffectsOf6<M>;
};

/**
 * Effects by the names of `setup({ actions })`, which are given the arguments, and of `setup({ actors })`. A machine
 * that names none may have any.
 */
export type EffectsOf6<M> = M extends { provide(sources: infer Sources): unknown }
  ? {
      readonly [Name in NamesOf<Sources, 'actions'>]?: Effect<
        Sources extends {
          readonly actions?: infer Actions;
        }
          ? Name extends keyof Actions
            ? NonNullable<Actions[Name]> extends (...args: infer Args) => unknown
              ? Args
              : any
            : any
          : any
      >;
    } & { readonly [Name in NamesOf<Sources, 'actors'>]?: Effect<any> }
  : Readonly<Record<string, Effect>>;
type NamesOf<Sources, Member extends string> = Sources extends { readonly [Key in Member]?: infer Named }
  ? keyof NonNullable<Named> & string
  : never;

/** A machine of XState 6, by its steps. */
export interface AnyMachine6 {
  /** The machine's own id. */
  readonly id: string;
  /** XState 6's step. */
  transition(snapshot: never, event: never, scope?: never): unknown;
  /** XState 6's first step. */
  initialTransition(input: never, scope?: never): unknown;
}

/** The same machine as XState 5 would type it: what calls of a supervisor read off a kind. */
export type MachineOf<M> = M extends {
  transition(snapshot: infer Snapshot, event: infer Event, scope?: infer Scope): unknown;
  initialTransition(input: infer Input, scope?: never): unknown;
}
  ? Checked<
      StateMachine<
        Snapshot extends { readonly context: infer Context extends MachineContext }
          ? Named<Context>
          : MachineContext,
        Event extends AnyEventObject ? Event : AnyEventObject,
        any,
        any,
        any,
        any,
        any,
        StateValueIn<Snapshot>,
        string,
        Exclude<Input, undefined>,
        OutputOf<Snapshot>,
        EmittedIn<Scope>,
        any,
        any
      >
    >
  : AnyStateMachine;
type Checked<Machine> = Machine extends AnyStateMachine ? Machine : AnyStateMachine;
/** The states by their names, where the alpha knows them; it says `{}` of some machines whose states run async logic. */
type StateValueIn<Snapshot> = Snapshot extends { readonly value: infer Value extends StateValue }
  ? {} extends Value
    ? StateValue
    : Value
  : StateValue;
/** The alpha adds an index signature to every context, which would take any member. */
type Named<Context> = { [Key in keyof Context as string extends Key ? never : Key]: Context[Key] };
/** What it says that it emits: its rows are read off that. */
type EmittedIn<Scope> =
  NonNullable<Scope> extends { readonly emit: (event: infer Emitted) => void }
    ? Emitted extends AnyEventObject
      ? Emitted
      : AnyEventObject
    : AnyEventObject;
type OutputOf<Snapshot> = Snapshot extends { readonly output: infer Output } ? Output : any;

const withoutChildren = (
  effects: Readonly<Record<string, Effect>>,
  { childKinds = {} }: AnyKind,
): Readonly<Record<string, Effect>> =>
  Object.fromEntries(Object.entries(effects).filter(([src]) => !Object.hasOwn(childKinds, src)));

/** The machine's schemas that check something; those that only say a type (`types<…>()`) are none. */
function schemasOf({ isTypeSchema }: XState6, { schemas }: Machine6): AnyKind['schemas'] {
  const checks = (schema: unknown): schema is StandardSchema => schema !== undefined && !isTypeSchema(schema);
  const events = Object.entries(schemas?.events ?? {}).filter(([, schema]) => checks(schema));
  const input = schemas?.input;
  if (events.length === 0 && !checks(input)) return undefined;
  return {
    ...(checks(input) ? { input } : {}),
    events: Object.fromEntries(events) as Record<string, StandardSchema>,
  };
}
