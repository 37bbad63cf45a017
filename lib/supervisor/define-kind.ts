import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { Kind } from '../../actors/contracts.js';

/**
 * Checks what a machine and its hands may be, and names each fault at definition instead of at three in the morning.
 *
 * @example
 * const counter = defineKind({ kind: 'counter', version: 1, machine, view: (snapshot) => ({ n: snapshot.context.n }) });
 */
export function defineKind<M extends AnyStateMachine>(kind: Kind<M>): Kind<M> {
  const problems = [...problemsOf(kind as unknown as Kind)]; // the checks need none of the machine's own types
  if (problems.length > 0) throw new TypeError(`the kind "${kind.kind}" cannot be used:\n- ${problems.join('\n- ')}`);
  return kind;
}

function* problemsOf(kind: Kind): Generator<string> {
  if (!/^[a-z][a-z0-9-]*$/.test(kind.kind)) yield `its name must match [a-z][a-z0-9-]*`;
  if (!Number.isSafeInteger(kind.version) || kind.version < 1) yield `its version must be a whole number from 1`;
  for (let version = Math.min(...Object.keys(kind.migrate ?? {}).map(Number)); version < kind.version; version += 1) {
    if (kind.migrate?.[version] === undefined) yield `the migration from version ${version} is missing`;
  }
  for (const [src, hand] of Object.entries(kind.hands ?? {})) {
    if (typeof hand.run !== 'function') yield `the hand "${src}" lacks run()`;
    if (hand.fence && typeof hand.recover !== 'function') yield `the fenced hand "${src}" lacks recover()`;
    if (kind.childKinds?.[src] !== undefined) yield `"${src}" is both a hand and a child kind`;
  }
  yield* nodeProblems(kind, kind.machine.root);
}

function* nodeProblems(kind: Kind, node: AnyStateNode): Generator<string> {
  const where = node.path.length === 0 ? 'the root' : `state "${node.path.join('.')}"`;
  for (const { src, id } of node.invoke) {
    if (typeof src !== 'string' || src.startsWith('xstate.invoke.')) yield `${where} invokes inline logic: name it in setup({actors})`;
    else if (kind.hands?.[src] === undefined && kind.childKinds?.[src] === undefined) yield `${where} invokes "${src}" (${id}), for which there is neither a hand nor a child kind`;
  }
  for (const action of actionsOf(node)) {
    const fault = actionFault(kind.machine, action);
    if (fault !== undefined) yield `${where} ${fault}`;
  }
  for (const { delay } of node.after) {
    if (typeof delay === 'string' && Number.isNaN(Number(delay)) && kind.machine.implementations.delays?.[delay] === undefined) {
      yield `${where} waits for the delay "${delay}", which setup({delays}) does not define: XState would fire it at once`;
    }
  }
  for (const child of Object.values(node.states)) yield* nodeProblems(kind, child);
}

function actionsOf(node: AnyStateNode): unknown[] {
  const transitions = [...node.transitions.values()].flat();
  return [...node.entry, ...node.exit, ...transitions.flatMap(({ actions }) => actions), ...(node.always ?? []).flatMap(({ actions }) => actions)];
}

/** XState's own actions (assign, raise, emit …) carry a `resolve`; anything else would act inside a decision. */
function actionFault(machine: AnyStateMachine, action: unknown): string | undefined {
  const name = typeof action === 'string' ? action : typeof action === 'object' && action !== null ? (action as { type: string }).type : undefined;
  const implementation: unknown = name === undefined ? action : machine.implementations.actions?.[name];
  if (implementation === undefined) return `names the action "${name ?? '?'}", which setup({actions}) does not define`;
  if (typeof implementation === 'function' && 'resolve' in implementation) return undefined;
  return `runs the custom action "${name ?? (implementation as { name?: string }).name ?? 'anonymous'}": machines decide, effects do; invoke an effect instead`;
}
