import { hash } from 'node:crypto';
import type { AnyEventObject } from 'xstate';
import { callerName, type Caller } from '../../machines/caller.js';
import type { Kind, Persisted } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import { sealEntry } from '../store/chain.js';
import { encodeChange } from './codec.js';
import type { LogEntry } from './contract.js';
import type { RequestedActions } from './actions.js';
import type { ActorState } from './actor-state.js';
import { setOwn } from './own-members.js';

/**
 * A log entry before its position is known. Everything that costs is computed here; sealing only joins text.
 */
export interface EntryDraft {
  readonly tail: string;
  readonly prev: number;
  /** Holds the whole snapshot; otherwise `base` is the position of the last one that does. */
  readonly whole: boolean;
  readonly base: number;
  readonly frames: LogEntry['frames'];
}

interface Input {
  readonly kind: Kind;
  readonly id: string;
  readonly before: ActorState | undefined;
  readonly live: ActorState;
  readonly event: AnyEventObject;
  /** The encoded snapshot, and the snapshot as data. */
  readonly state: string;
  readonly persisted: Persisted;
  readonly whole: boolean;
  readonly asked: RequestedActions;
  readonly cause: number | string | null;
  readonly by: Caller;
  readonly at: number;
}

export function draftEntry(input: Input): EntryDraft {
  const { kind, id, before, live, asked, whole } = input;
  const from = before === undefined ? 'null' : JSON.stringify(before.snapshot.value);
  const tail =
    `,"at":${input.at},"kind":"${kind.kind}","id":"${id}","rev":${live.rev},"machine":${JSON.stringify(kind.machine.id)},"version":${kind.version}` +
    `,"event":${eventText(input.event, kind.redacted)},"from":${from},"to":${JSON.stringify(live.snapshot.value)}` +
    `,"effects":${asked.effects.length === 0 ? '[]' : JSON.stringify(asked.effects)},"frames":${asked.frames.length === 0 ? '[]' : JSON.stringify(asked.frames)}` +
    `,"cause":${JSON.stringify(input.cause)},"by":${JSON.stringify(callerName(input.by))}${agentOf(input.by)}${before === undefined && live.parent !== null ? `,"parent":${JSON.stringify(live.parent)}` : ''},"snapshot":${whole ? `{"whole":${input.state}}` : difference(before as ActorState, input)}}`;
  return { tail, prev: before?.seq ?? 0, whole, base: live.base, frames: asked.frames };
}

/** What a policy needs to know of an agent beside its id: without it a step could not be repeated. */
const agentOf = (by: Caller): string =>
  by.type === 'session'
    ? `,"agent":${JSON.stringify({ employee: by.employee, ancestors: by.ancestors })}`
    : '';

/** The entry's row and chain hash at its position. */
export function sealDraft(
  draft: EntryDraft,
  seq: number,
  tx: number,
  last: boolean,
  prev: number,
  base: number,
  chain: string,
): { readonly value: string; readonly chain: string } {
  return sealEntry(
    chain,
    `{"seq":${seq},"tx":${tx},"last":${last},"prev":${prev},"base":${base}${draft.tail}`,
  );
}

/**
 * What changed against the last revision: members of the context compare by identity, as `assign` leaves
 * them.
 */
function difference(before: ActorState, { live, persisted }: Input): string {
  const old = before.snapshot.context as Record<string, unknown>;
  const now = persisted.context as Record<string, unknown>;
  const changed: Record<string, unknown> = {};
  const set: Record<string, unknown> = {};
  let any = false;
  if (now !== old) {
    for (const member in now)
      if (now[member] !== old[member] || (now[member] === undefined && !(member in old))) {
        setOwn(set, member, now[member]);
        any = true;
      }
    if (any) changed['set'] = set;
    const unset = Object.keys(old).filter((member) => !Object.hasOwn(now, member));
    if (unset.length > 0) changed['unset'] = unset;
  }
  if (live.snapshot.value !== before.snapshot.value) changed['value'] = persisted.value;
  if (live.snapshot.historyValue !== before.snapshot.historyValue && persisted.historyValue !== undefined)
    changed['historyValue'] = persisted.historyValue; // what was remembered is never forgotten
  if (persisted.status !== undefined) changed['status'] = persisted.status;
  if (persisted.output !== undefined) changed['output'] = persisted.output;
  return encodeChange(changed);
}

/** The event without the stamp (it has its own members) and with contents as `{sha256, chars}`. */
function eventText(event: AnyEventObject, contents: readonly string[] | undefined): string {
  const { at: _at, by: _by, ...rest } = event;
  return JSON.stringify(contents === undefined ? rest : withoutContents(rest, contents));
}

/** The very same value where there is nothing to hide. */
function withoutContents(value: unknown, contents: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return value.some((element) => typeof element === 'object')
      ? value.map((element) => withoutContents(element, contents))
      : value;
  let clean: Record<string, unknown> | undefined;
  for (const member in value) {
    const inner = (value as Record<string, unknown>)[member];
    const shown =
      typeof inner === 'string'
        ? contents.includes(member)
          ? digest(inner)
          : inner
        : withoutContents(inner, contents);
    if (shown !== inner) (clean ??= { ...value })[member] = shown;
  }
  return clean ?? value;
}

const digest = (text: string): Json => ({ sha256: hash('sha256', text, 'base64url'), chars: text.length });
