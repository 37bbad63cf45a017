import type { AnyEventObject, AnyStateMachine, AnyStateNode } from 'xstate';
import type { Decision } from './outputs.js';

/**
 * A machine inside of another one's step. Thousands of small machines that live in the records of others are
 * stepped in a commit that is not theirs; XState's own `transition` costs them more than all that they decide
 * (50 µs for the two events of a step). So the chart is read once per state and event, and what it says is
 * done: the first transition whose guard holds, innermost state first; exits, actions, entries.
 *
 * What is read: targets, guards and actions by name, `reenter`, `after`, one `invoke` at a time, two levels of
 * states. What is not (`always`, parallel states, history, actions in place) is refused when it is read, and
 * spec/machines/nested.spec.ts holds every step against XState's.
 */
export interface Nested<Context> {
  readonly machine: AnyStateMachine;
  readonly guards: Readonly<
    Record<string, (args: { context: Context; event: never }, params: never) => boolean>
  >;
  readonly delays: Readonly<Record<string, (args: { context: Context }) => number>>;
  readonly decisions: Readonly<Record<string, (context: Context, event: never) => Decision<Context>>>;
}

/** What a step asks for; the outer machine hands it on in its own name. */
export type NestedAction =
  | { readonly type: 'start'; readonly src: string; readonly input: unknown }
  | { readonly type: 'stop' }
  /** A delay of `Infinity` is none: the state waits for it in vain. */
  | { readonly type: 'timer'; readonly name: string; readonly delayMs: number }
  | { readonly type: 'cancel'; readonly name: string };

/** A state is written `parked`, or with one within: `running.reading`. */
export interface NestedState<Context> {
  readonly state: string;
  readonly context: Context;
}

/** `undefined`: the state does not take the event. Throws what guards and decisions throw. */
export function stepNested<Context extends { readonly outputs: readonly unknown[] }>(
  nested: Nested<Context>,
  from: NestedState<Context>,
  event: AnyEventObject,
): (NestedState<Context> & { readonly actions: readonly NestedAction[] }) | undefined {
  const given = event as never;
  const taken = movesOf(nested, from.state, event.type).find(
    ({ guard, params }) =>
      guard === undefined || guard({ context: from.context, event: given }, params as never),
  );
  if (taken === undefined) return undefined;
  let { context } = from;
  const actions: NestedAction[] = [];
  for (const part of taken.parts) {
    if (part.type === 'decide') {
      const { set, outputs } = part.decide(context, given);
      context = {
        ...context,
        ...set,
        ...(outputs === undefined ? {} : { outputs: [...context.outputs, ...outputs] }),
      };
    } else if (part.type === 'arm')
      actions.push({ type: 'timer', name: part.name, delayMs: part.delay({ context }) });
    else if (part.type === 'start')
      actions.push({ type: 'start', src: part.src, input: part.input({ context, event: given }) });
    else actions.push(part);
  }
  return { state: taken.state, context, actions };
}

/** The event that the state with this delay waits for. */
export function delayedEvent({ machine }: Pick<Nested<never>, 'machine'>, delay: string): string {
  const find = (node: AnyStateNode): string | undefined =>
    (node.after.find((after) => after.delay === delay)?.eventType as string | undefined) ??
    childrenOf(node)
      .map(find)
      .find((event) => event !== undefined);
  const event = find(machine.root);
  if (event === undefined) throw new TypeError(`no state of ${machine.id} has a delay "${delay}"`);
  return event;
}

/** One transition, as it is carried out. */
interface Move<Context> {
  readonly guard: Nested<Context>['guards'][string] | undefined;
  readonly params: unknown;
  readonly state: string;
  readonly parts: readonly Part<Context>[];
}

type Part<Context> =
  | { readonly type: 'decide'; readonly decide: Nested<Context>['decisions'][string] }
  | {
      readonly type: 'arm';
      readonly name: string;
      readonly delay: (args: { context: Context }) => number;
    }
  | {
      readonly type: 'start';
      readonly src: string;
      readonly input: (args: { context: Context; event: never }) => unknown;
    }
  | { readonly type: 'stop' }
  | { readonly type: 'cancel'; readonly name: string };

const read = new WeakMap<object, Map<string, readonly Move<never>[]>>();

function movesOf<Context>(nested: Nested<Context>, state: string, type: string): readonly Move<Context>[] {
  let known = read.get(nested);
  if (known === undefined) read.set(nested, (known = new Map<string, readonly Move<never>[]>()));
  const key = `${state} ${type}`;
  let moves = known.get(key) as readonly Move<Context>[] | undefined;
  if (moves === undefined) known.set(key, (moves = readMoves(nested, state, type)) as readonly Move<never>[]);
  return moves;
}

function readMoves<Context>(nested: Nested<Context>, state: string, type: string): readonly Move<Context>[] {
  const lineage = state
    .split('.')
    .reduce<AnyStateNode[]>(
      (nodes, name) => [(nodes[0] as AnyStateNode).states[name] as AnyStateNode, ...nodes],
      [nested.machine.root],
    );
  return lineage.flatMap((source) =>
    (source.transitions.get(type) ?? []).map(({ guard, target, reenter, actions }): Move<Context> => {
      const named = guard as string | { readonly type: string; readonly params?: unknown } | undefined;
      const name = typeof named === 'object' ? named.type : named;
      const entered = target?.[0] === undefined ? undefined : leafOf(target[0]);
      const path = entered === undefined ? [] : pathOf(entered);
      const stays = staysIn(source, target?.[0], reenter === true);
      const left = entered === undefined ? [] : lineage.slice(0, lineage.indexOf(stays));
      const come = path.slice(path.indexOf(stays) + 1);
      return {
        guard: name === undefined ? undefined : known(nested.guards, name),
        params: typeof named === 'object' ? named.params : undefined,
        state: entered === undefined ? state : entered.path.join('.'),
        parts: [
          ...left.flatMap((node) => leaveOf(node)),
          ...actions.map((action: unknown) => decision(nested, action)),
          ...come.flatMap((node) => enterOf(nested, node)),
        ],
      };
    }),
  );
}

/** The innermost state that a transition neither leaves nor enters. */
function staysIn(source: AnyStateNode, target: AnyStateNode | undefined, reenter: boolean): AnyStateNode {
  if (target === undefined) return source;
  const path = pathOf(target);
  if (!reenter && source !== target && path.includes(source)) return source;
  const outer = pathOf(source).slice(0, -1);
  return outer.findLast((node) => path.slice(0, -1).includes(node)) ?? source;
}

const childrenOf = (node: AnyStateNode): readonly AnyStateNode[] =>
  Object.values(node.states as Record<string, AnyStateNode>);

const pathOf = (node: AnyStateNode): readonly AnyStateNode[] =>
  node.parent === undefined ? [node] : [...pathOf(node.parent), node];

const leafOf = (node: AnyStateNode): AnyStateNode =>
  node.type === 'compound'
    ? leafOf((node.initial.target as readonly AnyStateNode[])[0] as AnyStateNode)
    : node;

/** Timers and effects of a state end with it. XState keeps them among its entries and exits, unnamed. */
const leaveOf = <Context>(node: AnyStateNode): readonly Part<Context>[] => [
  ...delaysOf(node).map((name) => ({ type: 'cancel' as const, name })),
  ...node.invoke.map(() => ({ type: 'stop' as const })),
];

const enterOf = <Context>(nested: Nested<Context>, node: AnyStateNode): readonly Part<Context>[] => [
  ...node.entry
    .filter((action: unknown) => typeof action !== 'function')
    .map((action: unknown) => decision(nested, action)),
  ...delaysOf(node).map((name) => ({ type: 'arm' as const, name, delay: known(nested.delays, name) })),
  ...node.invoke.map(({ src, input }) => ({
    type: 'start' as const,
    src: String(src),
    input: input as (args: { context: Context; event: never }) => unknown,
  })),
];

const delaysOf = (node: AnyStateNode): readonly string[] => [
  ...new Set(node.after.map(({ delay }) => String(delay))),
];

function decision<Context>(nested: Nested<Context>, action: unknown): Part<Context> {
  const name = typeof action === 'string' ? action : (action as { readonly type: string }).type;
  return { type: 'decide', decide: known(nested.decisions, name) };
}

function known<Value>(table: Readonly<Record<string, Value>>, name: string): Value {
  const value = table[name];
  if (value === undefined) throw new TypeError(`a nested machine has no "${name}"`);
  return value;
}
