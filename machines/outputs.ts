import {
  enqueueActions,
  type ActionFunction,
  type EventObject as AnyEvent,
  type MachineContext,
  type ParameterizedObject,
  type PromiseActorLogic,
} from 'xstate';
import type { Caller } from './caller.js';

/**
 * The ground that every machine stands on: how a machine names what it wants of the world without doing it.
 *
 * - An *effect* is an `invoke` (or `spawnChild`) of a placeholder by string `src`. The kernel writes it to
 * the
 *   outbox in the same batch as the state, runs its hand after the commit and brings the result back as
 *   `onDone`/`onError`. Leaving the state aborts it.
 * - An *output* is an emitted event with one of the types below: a row to keep, a message for another durable
 * actor,
 *   a frame for watchers. `emit(…)` is pure data in XState, so a machine with outputs stays a pure function.
 */

/** JSON that can be stored. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [member: string]: Json | undefined };

/**
 * A type that is JSON all the way down, where the compiler cannot see it by itself: an interface has no index
 * signature, and so is no `Json` to it. What cannot be stored (a function, a Date, a Map) is refused.
 */
export type AsJson<Type> = Type extends Json | undefined
  ? Type
  : Type extends object
    ? Type extends
        | ((...given: never[]) => unknown)
        | Date
        | ReadonlyMap<unknown, unknown>
        | ReadonlySet<unknown>
      ? never
      : { readonly [Member in keyof Type]: AsJson<Type[Member]> }
    : never;

/** An event as a caller sends it; see Stamp for what the kernel adds. */
export interface EventObject {
  /** Name of the event, `noun.verb`. */
  readonly type: string;
  /** Its payload: JSON members. */
  readonly [member: string]: unknown;
}

/** The address of a durable actor. */
export interface ActorKey<Name extends string = string> {
  /** Name of its kind. */
  readonly kind: Name;
  /** Unique within the kind. */
  readonly id: string;
}

/**
 * What the kernel stamps on every event before a machine sees it: time (epoch ms), caller, facts of the
 * world.
 */
export interface Stamp<Facts = Json> {
  /** Epoch milliseconds by the wall clock: the machine's only time. */
  readonly at: number;
  /** Who sent it. */
  readonly by: Caller;
  /** With whose rights, where that is not `by`. */
  readonly onBehalfOf?: Caller;
  /** What the kind's `facts` said of the world. Absent: the kind asks for none. */
  readonly facts?: Facts;
}

/** Keep (or with `null` delete) one row of a growing collection, e.g. the 12th message of a session. */
export interface WriteRow<Collection extends string = string, Row = unknown> {
  /** Marks the output for the kernel. */
  readonly type: 'kernel.write-row';
  /** Name of the collection: `supervisor.rows(actor, collection)`. */
  readonly collection: Collection;
  /** Position: a counter from the context (ordered), or a name. */
  readonly n: number | string;
  /** JSON; `null` deletes. */
  readonly row: Row | null;
}

/** Send an event to another durable actor: exactly once, first in first out per sender and receiver. */
export interface SendTo {
  /** Marks the output for the kernel. */
  readonly type: 'kernel.send';
  /** The receiver. */
  readonly to: ActorKey;
  /** What it gets, stamped with the sender as its caller. */
  readonly event: { readonly type: string } & { readonly [member: string]: Json | undefined };
}

/** Tell watchers: becomes a frame `{seq, event, payload, ts}` on /ws after the commit. */
export interface Publish {
  /** Marks the output for the kernel. */
  readonly type: 'kernel.publish';
  /** Name of the frame: `session:stopped`. */
  readonly event: string;
  /** What watchers get, as JSON. */
  readonly payload: Json;
}

/** What a machine wants of the world: a row, a message or a frame. */
export type Output = WriteRow | SendTo | Publish;

/** What a machine emits that writes these rows: `setup({types: {emitted: {} as OutputOf<{ loans: Loan }>}})`. */
export type OutputOf<Rows> =
  | { [Collection in keyof Rows & string]: WriteRow<Collection, Rows[Collection]> }[keyof Rows & string]
  | SendTo
  | Publish;

/**
 * A row of a collection; `null` in place of the row deletes it. Never throws; what is no JSON is an error of
 * the compiler.
 * @example
 *   const types = { emitted: {} as WriteRow<'notes'>, events: {} as { type: 'note'; text: string } };
 *   setup({ types }).createMachine({
 *     on: { note: { actions: emit(({ event }) => writeRow('notes', 1, event.text)) } },
 *   });
 */
export const writeRow = <const Collection extends string, Row>(
  collection: Collection,
  n: number | string,
  row: (Row & AsJson<Row>) | null,
): WriteRow<Collection, Row> => ({ type: 'kernel.write-row', collection, n, row });
/**
 * A message to another durable actor. Never throws; the kernel delivers it exactly once.
 * @example emit(({ context }) => sendToActor({ kind: 'session', id: context.parent }, { type: 'child.finished' }))
 */
export const sendToActor = (to: ActorKey, event: SendTo['event']): SendTo => ({
  type: 'kernel.send',
  to,
  event,
});
/**
 * A frame for watchers. Never throws.
 * @example emit(({ context }) => publish('session:stopped', { sessionId: context.id }))
 */
export const publish = (event: string, payload: Json): Publish => ({
  type: 'kernel.publish',
  event,
  payload,
});

/**
 * A typed placeholder for an effect: `setup({actors: {turn: effect<TurnResult, TurnInput>()}})`. It does
 * nothing by itself; in a test of a bare machine provide `fromPromise(fake)` in its place. Never throws.
 * @example setup({ actors: { turn: effect<TurnResult, TurnInput>() } })
 */
export function effect<Out, In>(): PromiseActorLogic<Out, In> {
  type Inert = { status: 'active'; output: undefined; error: undefined; input: In };
  const logic = {
    transition: (snapshot: Inert) => snapshot,
    getInitialSnapshot: (_scope: unknown, input: In): Inert => ({
      status: 'active',
      output: undefined,
      error: undefined,
      input,
    }),
    getPersistedSnapshot: (snapshot: Inert) => snapshot,
    restoreSnapshot: (snapshot: Inert) => snapshot,
  };
  // XState's type also names a start() that an inert effect must not have
  return logic as unknown as PromiseActorLogic<Out, In>;
}

/**
 * A value whose type is an interface, which is no record of JSON to the compiler. What cannot be stored is refused.
 * @example jsonBytes(asJson(definition))
 */
export const asJson = <Type>(value: Type & AsJson<Type>): Json => value as Json;

/**
 * The stamp of an event whose XState type does not show it (done, error and delayed events): the kernel stamps every
 * event. Never throws.
 * @example assign({ endedAt: ({ event }) => stampOf(event).at })
 */
export const stampOf = (event: { type: string }): Stamp => event as { type: string } & Stamp;

/**
 * What one event changes: members of the context, and outputs. Machines read like tables because their actions
 * are only names of functions `(context, event) → Decision`, which a test may call without any machine.
 */
export interface Decision<Context> {
  readonly set?: Partial<Context>;
  readonly outputs?: readonly Output[];
}

/**
 * Makes actions of such functions, for one machine: `const decides = decidesFor<Context, Event>()`, then
 * `setup({ actions: { post: decides('message.post', post) } })`. An action that is named under another event
 * than its own throws. Without a name it takes every event.
 */
export function decidesFor<
  Context extends MachineContext,
  Event extends AnyEvent,
  Emitted extends Output = Output,
>(): Decides<Context, Event, Emitted> {
  return (
    given: Event['type'] | Decide<Context, Event, unknown>,
    named?: Decide<Context, never, unknown>,
  ): never => {
    const decide = (typeof given === 'function' ? given : named) as Decide<Context, Event, unknown>;
    const type = typeof given === 'function' ? undefined : given;
    return enqueueActions<Context, Event, undefined, Event, never, never, never, never, Output>(
      ({ context, event, enqueue }, params) => {
        if (type !== undefined && event.type !== type)
          throw new TypeError(`the action decides about "${type}", not about "${event.type}"`);
        applyDecision(enqueue, decide(context, event, params));
      },
    ) as never; // the overloads below say what it is
  };
}

/** Carry a decision out inside of `enqueueActions`, beside what else is done there. */
export function applyDecision<Context>(enqueue: Enqueue<Context>, decision: Decision<Context>): void {
  if (decision.set) enqueue.assign(decision.set);
  for (const output of decision.outputs ?? []) enqueue.emit(output as never);
}

/** One decision after another: the second decides on what the first left. */
export function afterwards<Context>(
  context: Context,
  first: Decision<Context>,
  next: (context: Context) => Decision<Context>,
): Decision<Context> {
  const second = next({ ...context, ...first.set });
  return {
    set: { ...first.set, ...second.set } as Partial<Context>,
    outputs: [...(first.outputs ?? []), ...(second.outputs ?? [])],
  };
}

type Decide<Context, Event, Params> = (context: Context, event: Event, params: Params) => Decision<Context>;

type Made<
  Context extends MachineContext,
  Event extends AnyEvent,
  Params,
  Emitted extends Output,
> = ActionFunction<
  Context,
  Event,
  Event,
  Params extends ParameterizedObject['params'] | undefined ? Params : never,
  never,
  never,
  never,
  never,
  Emitted
>;

interface Decides<Context extends MachineContext, Event extends AnyEvent, Emitted extends Output> {
  <Type extends Event['type'], Params = undefined>(
    type: Type,
    decide: Decide<Context, Extract<Event, { type: Type }>, Params>,
  ): Made<Context, Event, Params, Emitted>;
  <Params = undefined>(decide: Decide<Context, Event, Params>): Made<Context, Event, Params, Emitted>;
}

/** The two verbs of XState's `enqueue` that a decision needs. */
interface Enqueue<Context> {
  assign(set: Partial<Context>): void;
  // What it takes is the machine's to say: some of all outputs
  emit(output: never): void;
}
