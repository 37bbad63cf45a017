import type { AnyStateMachine } from 'xstate';
import { conditionOf } from '../../lib/inspector/chart/chart-of.js';

/**
 * A machine's transitions as plain rows, read from the live definition: the charts, the hash and the walks
 * all start here.
 */
export interface Edge {
  /** Path of the state, `''` for the machine itself. */
  readonly from: string;
  /** `message.post`, `after untilReset`, `turn done`, `turn failed`, or `always`. */
  readonly event: string;
  readonly guard: string | null;
  /** The guard as it is drawn: `is(status = failed)`. */
  readonly condition: string | null;
  /** Paths of the targets; empty: it stays where it is. */
  readonly to: readonly string[];
  readonly reenter: boolean;
  readonly actions: readonly string[];
}

export type StateNode = AnyStateMachine['root'];

export function nodesOf(node: StateNode): readonly StateNode[] {
  return [node, ...childrenOf(node).flatMap(nodesOf)];
}

export const childrenOf = (node: StateNode): readonly StateNode[] =>
  Object.values(node.states) as StateNode[];
export const pathOf = (node: StateNode): string => node.path.join('.');

export function edgesOf(node: StateNode): readonly Edge[] {
  const taken = [...node.transitions.values()].flat();
  return [
    ...(node.always ?? []).map((transition) => edge(node, 'always', transition)),
    ...taken.map((transition) => edge(node, eventOf(String(transition.eventType)), transition)),
  ];
}

interface Taken {
  readonly target?: readonly unknown[] | undefined;
  readonly guard?: unknown;
  readonly actions: readonly unknown[];
  readonly reenter?: boolean;
}

function edge(node: StateNode, event: string, transition: Taken): Edge {
  return {
    from: pathOf(node),
    event,
    guard: guardOf(transition.guard),
    condition: conditionOf(transition.guard),
    to: (transition.target ?? []).map((target) => pathOf(target as StateNode)),
    reenter: transition.reenter ?? false,
    actions: transition.actions.map(nameOf),
  };
}

function eventOf(type: string): string {
  const after = /^xstate\.after\.([^.]+)\./.exec(type);
  if (after) return `after ${after[1]}`;
  const child = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type);
  return child ? `${child[2]} ${child[1] === 'done' ? 'done' : 'failed'}` : type;
}

function guardOf(guard: unknown): string | null {
  if (guard === undefined || guard === null) return null;
  if (typeof guard === 'string') return guard;
  const made = guard as { type?: string; guards?: readonly unknown[]; params?: unknown; name?: string };
  if (Array.isArray(made.guards)) return made.guards.map(guardOf).join(' and ');
  if (typeof guard === 'function') return made.name === 'stateIn' ? 'stateIn' : (made.name ?? 'function');
  const params =
    typeof made.params === 'object' && made.params !== null ? Object.values(made.params).join(' to ') : '';
  return `${made.type ?? 'function'}${params === '' ? '' : `: ${params}`}`;
}

function nameOf(action: unknown): string {
  if (typeof action === 'string') return action;
  return (action as { type?: string }).type ?? 'function';
}
