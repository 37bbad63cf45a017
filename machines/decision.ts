import {
  enqueueActions,
  type ActionFunction,
  type EventObject,
  type MachineContext,
  type ParameterizedObject,
} from 'xstate';
import type { Output } from './outputs.js';

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
  Event extends EventObject,
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
  Event extends EventObject,
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

interface Decides<Context extends MachineContext, Event extends EventObject, Emitted extends Output> {
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
