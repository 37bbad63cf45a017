import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import type { AsJson } from '../machines/outputs.js';
import type { RefusalCode, RefusalMeaning } from '../machines/refusals.js';
import { nearest } from '../machines/text.js';
import type { IndexRow, Kind } from './contracts.js';
import type { Driver } from './driver.js';
import type { AnyKind, EffectsOption } from './inference.js';

/**
 * Defines a kind of actor: checks what its machine and its effects may be, names each fault at definition, and
 * carries the types of the machine, the view and the lists to every call of a supervisor.
 *
 * @throws TypeError with every fault of the definition
 * @example
 *   const counter = defineKind({
 *     kind: 'counter',
 *     version: 1,
 *     machine,
 *     view: (snapshot) => ({ total: snapshot.context.total }),
 *   });
 */
export function defineKind<
  M extends AnyStateMachine,
  View,
  const Name extends string,
  const List extends IndexRow = never,
  const Code extends string = never,
  const Meanings extends Refusals = {},
  const Child extends string = never,
>(kind: KindDefinition<M, View, Name, List, Code, Meanings, Child>): Kind<M, View, Name, List, Code>;
export function defineKind(kind: AnyKind): AnyKind {
  checkKind(kind);
  return kind;
}

/** A kind as it is written: its effects are those that the machine's `setup({actors})` names. */
export type KindDefinition<
  M extends AnyStateMachine,
  View,
  Name extends string,
  List extends IndexRow,
  Code extends string,
  Meanings extends Refusals,
  Child extends string,
> = KindRules<M, View, Name, List, Code, Meanings, Child> & {
  /** The XState machine, made by `setup(…).createMachine(…)`: pure, with placeholders as actors. */
  readonly machine: M;
  /** What steps the machine, where that is not XState 5: see `troupe/xstate6`. */
  readonly driver?: Driver;
} & EffectsOption<M, Child>;

/** A kind as it is written, but for its machine and its effects, which each major of XState says in its own way. */
export type KindRules<
  M extends AnyStateMachine,
  View,
  Name extends string,
  List extends IndexRow,
  Code extends string,
  Meanings extends Refusals,
  Child extends string,
> = Omit<Kind<M, View, Name, List, Code>, 'machine' | 'driver' | 'effects' | 'childKinds' | 'refusals'> & {
  /** What codes of your own mean. Once there are some, each code that a rule uses must be among them. */
  readonly refusals?: Meanings;
  /** `src` names that the machine invokes or spawns as durable child actors: src → kind. */
  readonly childKinds?: { readonly [Src in Child]: string };
} & ViewOption<View> &
  ({} extends Meanings ? unknown : MeaningsOf<Exclude<Code, RefusalCode | keyof Meanings>>);

/** A view is shown, stored in lists and sent as JSON: another one would come out as something else than its type says. */
type ViewOption<View> = [View] extends [AsJson<View>]
  ? undefined extends View
    ? { readonly view: (...given: never) => 'a view answers JSON: null in place of undefined' }
    : unknown
  : {
      readonly view: (
        ...given: never
      ) => 'a view answers JSON: no Date, Map, Set, bigint, function or promise';
    };

type Refusals = Readonly<Record<string, RefusalMeaning>>;
type MeaningsOf<Missing extends string> = [Missing] extends [never]
  ? unknown
  : { readonly refusals: { readonly [Code in Missing]: RefusalMeaning } };

/** A misspelt rule would be enforced by no one, and modules of a home have no compiler. */
const members: { readonly [Member in keyof Required<Kind>]: true } = {
  kind: true,
  version: true,
  machine: true,
  driver: true,
  view: true,
  policy: true,
  notInState: true,
  validateInput: true,
  validateContext: true,
  schemas: true,
  refusals: true,
  effects: true,
  childKinds: true,
  facts: true,
  index: true,
  indexVersion: true,
  totals: true,
  panels: true,
  moves: true,
  awaits: true,
  waitingFor: true,
  redacted: true,
  keptInBundles: true,
  operatorEvents: true,
  startsWork: true,
  forgetAfterMs: true,
  migrate: true,
  supervision: true,
};

/** Throws a TypeError that names everything that is wrong with a kind. */
export function checkKind(kind: AnyKind): void {
  const problems = [...problemsOf(kind)];
  if (problems.length > 0)
    throw new TypeError(`the kind "${kind.kind}" cannot be used:\n- ${problems.join('\n- ')}`);
}

function* problemsOf(kind: Kind): Generator<string> {
  for (const member of Object.keys(kind).filter((name) => !(name in members))) {
    const meant = nearest(member, Object.keys(members));
    yield `it has no member "${member}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
  }
  if (typeof kind.kind !== 'string' || !/^[a-z][a-z0-9-]*$/.test(kind.kind))
    yield `its name must match [a-z][a-z0-9-]*`;
  if (!Number.isSafeInteger(kind.version) || kind.version < 1)
    yield `its version must be a whole number from 1`;
  for (
    let version = Math.min(...Object.keys(kind.migrate ?? {}).map(Number));
    version < kind.version;
    version += 1
  ) {
    if (kind.migrate?.[version] === undefined) yield `the migration from version ${version} is missing`;
  }
  for (const [src, effect] of Object.entries(kind.effects ?? {})) {
    if (typeof effect.run !== 'function') yield `the effect "${src}" lacks run()`;
    if (effect.guarantee !== 'at-least-once' && effect.guarantee !== 'at-most-once')
      yield `the effect "${src}" needs the guarantee at-least-once or at-most-once`;
    if (effect.guarantee === 'at-most-once' && typeof effect.recover !== 'function')
      yield `the at-most-once effect "${src}" lacks recover()`;
    if (kind.childKinds?.[src] !== undefined) yield `"${src}" is both an effect and a child kind`;
  }
  if (typeof kind.view !== 'function') yield 'it lacks view(snapshot): what callers see';
  if ((kind.machine as Partial<AnyStateMachine> | undefined)?.root === undefined)
    yield 'its machine must be one of setup(…).createMachine(…)';
  else yield* kind.driver?.problems?.(kind) ?? nodeProblems(kind, kind.machine.root);
}

function* nodeProblems(kind: Kind, node: AnyStateNode): Generator<string> {
  const where = node.path.length === 0 ? 'the root' : `state "${node.path.join('.')}"`;
  for (const { src, id } of node.invoke) {
    if (typeof src !== 'string' || src.startsWith('xstate.invoke.'))
      yield `${where} invokes inline logic: name it in setup({actors})`;
    else if (kind.effects?.[src] === undefined && kind.childKinds?.[src] === undefined)
      yield `${where} invokes "${src}" (${id}), which is neither an effect nor a child kind`;
    else if (kind.machine.implementations.actors?.[src] === undefined)
      yield `${where} invokes "${src}", which setup({actors}) does not define: it would not survive a sleep`;
  }
  for (const action of actionsOf(node)) {
    const fault = actionFault(kind.machine, action);
    if (fault !== undefined) yield `${where} ${fault}`;
  }
  for (const { guard } of transitionsOf(node)) {
    for (const name of guardNames(guard)) {
      if (kind.machine.implementations.guards?.[name] === undefined)
        yield `${where} names the guard "${name}", which setup({guards}) does not define`;
    }
  }
  for (const delay of delaysOf(kind.machine, node)) {
    if (
      typeof delay === 'string' &&
      Number.isNaN(Number(delay)) &&
      kind.machine.implementations.delays?.[delay] === undefined
    ) {
      yield (
        `${where} waits for the delay "${delay}", which setup({delays}) does not define: XState would fire ` +
          'it at once'
      );
    }
  }
  for (const child of Object.values(node.states)) yield* nodeProblems(kind, child);
}

function transitionsOf(node: AnyStateNode): readonly AnyTransitionDefinition[] {
  return [...[...node.transitions.values()].flat(), ...(node.always ?? [])];
}

function actionsOf(node: AnyStateNode): unknown[] {
  const initial = node.type === 'compound' ? node.initial.actions : [];
  return [...node.entry, ...node.exit, ...initial, ...transitionsOf(node).flatMap(({ actions }) => actions)];
}

/**
 * Guards go by name, with parameters, or inside of `and`, `or` and `not`, which carry what they join as
 * `guards`.
 */
function guardNames(guard: unknown): string[] {
  if (typeof guard === 'string') return [guard];
  if (typeof guard === 'object' && guard !== null) return [(guard as { type: string }).type];
  const joined = (guard as { guards?: readonly unknown[] } | undefined)?.guards ?? [];
  return joined.flatMap(guardNames);
}

/** The delays of `after`, and those that `raise` and `sendTo` carry. */
function delaysOf(machine: AnyStateMachine, node: AnyStateNode): unknown[] {
  const carried = actionsOf(node).map((action) => {
    const name = typeof action === 'string' ? action : (action as { type?: string } | undefined)?.type;
    const implementation: unknown =
      typeof action === 'function' || name === undefined ? action : machine.implementations.actions?.[name];
    return (implementation as { delay?: unknown } | undefined)?.delay;
  });
  return [...node.after.map(({ delay }) => delay), ...carried];
}

/**
 * XState's own actions (assign, raise, emit …) carry a `resolve`; anything else would act inside a decision.
 */
function actionFault(machine: AnyStateMachine, action: unknown): string | undefined {
  const name =
    typeof action === 'string'
      ? action
      : typeof action === 'object' && action !== null
        ? (action as { type: string }).type
        : undefined;
  const implementation: unknown = name === undefined ? action : machine.implementations.actions?.[name];
  if (implementation === undefined)
    return `names the action "${name ?? '?'}", which setup({actions}) does not define`;
  if (typeof implementation === 'function' && 'resolve' in implementation) return undefined;
  return (
    `runs the custom action "${name ?? (implementation as { name?: string }).name ?? 'anonymous'}": ` +
    'machines decide, effects do; invoke an effect instead'
  );
}
