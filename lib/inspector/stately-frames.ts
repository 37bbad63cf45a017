import type { ActorKey, Json } from '../../machines/outputs.js';
import type { LogEntry } from '../supervisor/contract.js';
import type { KindFacts } from '../supervisor/inspection-answers.js';
import { redact } from './redact.js';

/**
 * What `@statelyai/inspect` 0.7 sends and receives, one JSON object a message: an actor, an event that it
 * took, the snapshot that it came to. Receivers require a string `type` and a string `_version`; the spec
 * holds these frames against the package itself.
 */
export type StatelyFrame = StatelyActor | StatelyEvent | StatelySnapshot;

interface Base {
  readonly sessionId: string;
  readonly rootId: string;
  readonly createdAt: string;
  readonly id: null;
  readonly _version: string;
}

export interface StatelyActor extends Base {
  readonly type: '@xstate.actor';
  readonly name: string;
  readonly parentId?: string;
  /** JSON of the machine's config; functions stand as `{type: name}`. */
  readonly definition: string;
  readonly snapshot: StatelyState;
}

export interface StatelyEvent extends Base {
  readonly type: '@xstate.event';
  readonly event: { readonly type: string };
  readonly sourceId?: string;
}
/** `seq`, the position in the log to resume from, is our own; anyone who takes these frames passes it over. */
export interface StatelySnapshot extends Base {
  readonly type: '@xstate.snapshot';
  readonly event: { readonly type: string };
  readonly snapshot: StatelyState;
  readonly seq: number;
}

export interface StatelyState {
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly value: Json;
  readonly context: Json;
  readonly children: Readonly<Record<string, never>>;
  readonly historyValue: Readonly<Record<string, never>>;
  readonly tags: readonly string[];
}

/** The root system is Stately's root: every actor without a parent hangs beneath it. */
export const rootId = 'troupe';
const version = '0.7.2';

export const sessionIdOf = ({ kind, id }: ActorKey): string => `${kind}/${id}`;

export const stateOf = (
  value: Json,
  context: Json,
  status: StatelyState['status'] = 'active',
): StatelyState => ({ status, value, context: redact(context), children: {}, historyValue: {}, tags: [] });

export function actorFrame(
  actor: ActorKey,
  machine: Machine,
  parent: ActorKey | null,
  snapshot: StatelyState,
  at: number,
): StatelyActor {
  return {
    type: '@xstate.actor',
    name: sessionIdOf(actor),
    parentId: parent === null ? rootId : sessionIdOf(parent),
    definition: definitionOf(machine),
    snapshot,
    sessionId: sessionIdOf(actor),
    ...base(at),
  };
}

export function rootFrame(machine: Machine, value: string, at: number): StatelyActor {
  return {
    type: '@xstate.actor',
    name: rootId,
    definition: definitionOf(machine),
    snapshot: stateOf(value, {}),
    sessionId: rootId,
    ...base(at),
  };
}

/** An entry of the log: the event, and the snapshot that it led to. */
export function stepFrames(
  entry: LogEntry,
  source: string | undefined,
  snapshot: StatelyState,
): readonly [StatelyEvent, StatelySnapshot] {
  const logged = redact(entry.event) as { readonly type: string };
  const event = logged.type === 'kernel.created' ? { ...logged, type: 'xstate.init' } : logged;
  const own = { sessionId: sessionIdOf(entry), ...base(entry.at) };
  return [
    { type: '@xstate.event', event, ...(source === undefined ? {} : { sourceId: source }), ...own },
    { type: '@xstate.snapshot', event, snapshot, seq: entry.position, ...own },
  ];
}

type Machine = KindFacts['machine'];

const base = (at: number) => ({ rootId, createdAt: String(at), id: null, _version: version }) as const;

const definitions = new WeakMap<Machine, string>();

function definitionOf(machine: Machine): string {
  const known = definitions.get(machine);
  if (known !== undefined) return known;
  const text = JSON.stringify({ ...machine.config, id: machine.id }, (_key, value: unknown) =>
    typeof value === 'function' ? { type: value.name } : value,
  );
  definitions.set(machine, text);
  return text;
}
