import type { Chart, ChartEdge, ChartState } from './definition.js';

/**
 * A live XState machine → plain data to draw. Structural on purpose: it reads the definition and runs
 * nothing, so that it needs no XState of its own.
 */
export function chartOf(machine: { readonly id: string; readonly root: unknown }): Chart {
  const root = machine.root as Node;
  const edges: ChartEdge[] = [];
  const state = stateOf(root, machine.id, edges);
  return { id: machine.id, root: state, edges };
}

interface Node {
  readonly key: string;
  readonly path: readonly string[];
  readonly type: ChartState['type'];
  readonly initial?: { readonly target?: readonly Node[] } | undefined;
  readonly invoke: readonly { readonly id: string; readonly src: unknown }[];
  /** Lists of XState 5; one function of XState 6, or none. */
  readonly entry: unknown;
  readonly exit: unknown;
  readonly tags: readonly string[];
  readonly description?: string | undefined;
  readonly states: Readonly<Record<string, Node>>;
  readonly always?: readonly Taken[] | undefined;
  readonly transitions: ReadonlyMap<string, readonly Taken[]>;
  readonly after?: readonly { readonly delay: unknown; readonly eventType: string }[];
}

interface Taken {
  readonly eventType?: string;
  readonly target?: readonly Node[] | undefined;
  readonly guard?: unknown;
  readonly actions?: readonly unknown[];
  readonly reenter?: boolean;
}

function stateOf(node: Node, id: string, edges: ChartEdge[]): ChartState {
  const path = pathOf(node);
  for (const taken of node.always ?? []) edges.push(edgeOf(node, '', taken, edges.length));
  for (const [type, list] of node.transitions)
    for (const taken of list) edges.push(edgeOf(node, type, taken, edges.length));
  return {
    path,
    key: path === '' ? id : node.key,
    type: node.type,
    initial:
      node.type === 'compound' && node.initial?.target?.[0] !== undefined
        ? pathOf(node.initial.target[0])
        : null,
    invokes: node.invoke.map((invoke) => ({
      id: invoke.id,
      src: typeof invoke.src === 'string' ? invoke.src : 'inline',
    })),
    entry: listOf(node.entry).map(nameOf),
    exit: listOf(node.exit)
      .map(nameOf)
      .filter((name) => name !== 'xstate.cancel'),
    tags: [...node.tags],
    about: node.description ?? null,
    states: Object.values(node.states).map((child) => stateOf(child, id, edges)),
  };
}

function edgeOf(node: Node, type: string, taken: Taken, n: number): ChartEdge {
  const delay = /^xstate\.after\.([^.]+)\./.exec(type)?.[1] ?? null;
  return {
    id: `e${n}`,
    from: pathOf(node),
    to: (taken.target ?? []).map(pathOf),
    type,
    event: readable(type),
    guard: guardOf(taken.guard),
    condition: conditionOf(taken.guard),
    delay,
    actions: listOf(taken.actions).map(nameOf),
    reenter: taken.reenter ?? false,
  };
}

/** As people read an event of the log: `xstate.done.actor.turn` is `turn done`. */
export function readable(type: string): string {
  if (type === '') return 'always';
  const after = /^xstate\.after\.([^.]+)\./.exec(type);
  if (after) return `after ${/^\d+$/.test(after[1] ?? '') ? duration(Number(after[1])) : after[1]}`;
  const child = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type);
  if (child) return `${child[2]} ${child[1] === 'done' ? 'done' : 'failed'}`;
  const done = /^xstate\.done\.state\.(.+)$/.exec(type);
  return done ? `${done[1]} ends` : type;
}

function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${ms / 1_000} s`;
  return ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`;
}

/** Values alone: what machines are hashed by, and have been ever since. */
const guardOf = (guard: unknown): string | null =>
  textOf(guard, (params) =>
    params.length === 0 ? '' : `: ${params.map(([, value]) => value).join(' to ')}`,
  );

/** `is(status = failed)`: a guard that stands in one chart several times, told apart by its parameters. */
export const conditionOf = (guard: unknown): string | null =>
  textOf(guard, (params) =>
    params.length === 0 ? '' : `(${params.map(([name, value]) => `${name} = ${String(value)}`).join(', ')})`,
  );

function textOf(
  guard: unknown,
  write: (params: readonly (readonly [name: string, value: unknown])[]) => string,
): string | null {
  if (guard === undefined || guard === null) return null;
  if (typeof guard === 'string') return guard;
  const made = guard as {
    readonly type?: string;
    readonly guards?: readonly unknown[];
    readonly params?: unknown;
    readonly name?: string;
  };
  if (Array.isArray(made.guards))
    return joinGuards(
      made.name,
      made.guards.map((inner) => textOf(inner, write)),
    );
  if (typeof guard === 'function') return made.name === '' || made.name === undefined ? 'inline' : made.name;
  const params = typeof made.params === 'object' && made.params !== null ? Object.entries(made.params) : [];
  return `${made.type ?? 'inline'}${write(params)}`;
}

function joinGuards(how: string | undefined, names: readonly (string | null)[]): string {
  if (how === 'not') return `not ${names.join('')}`;
  return names.join(how === 'or' ? ' or ' : ' and ');
}

const nameOf = (action: unknown): string =>
  typeof action === 'string' ? action : ((action as { readonly type?: string }).type ?? 'inline');
const listOf = (given: unknown): readonly unknown[] =>
  given === undefined ? [] : Array.isArray(given) ? given : [given];
const pathOf = (node: Node): string => node.path.join('.');
