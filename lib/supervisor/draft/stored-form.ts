import type { AnyMachineSnapshot, AnyEventObject } from 'xstate';
import type { ActorKey, Kind, Meta, Persisted } from '../../../actors/contracts.js';
import type { Json } from '../../../machines/outputs.js';
import { assertAtOnce, decodeState, setOwn, encodeChange, isPlain, ownCopy } from './codec.js';
import { xstate5 } from './driver.js';
import { reasonOf } from '../../../machines/text.js';
import { noFailures, none, type ActorState, type StatePlaces } from './actor-state.js';
import { placesOfRecord } from './indexes.js';
import { hash } from 'node:crypto';
import { callerName, type Caller } from '../../../machines/caller.js';
import { sealEntry } from '../../store/chain.js';
import type { LogEntry } from '../contract.js';
import type { RequestedActions } from './actions.js';

/**
 * The stored form of an actor: one JSON row per actor, with machine and version, so that an old snapshot is
 * migrated and tried before anything replaces it.
 */
interface Stored extends ActorKey {
  readonly machine: string;
  readonly version: number;
  /** Absent: 0. */
  readonly indexed?: number;
  readonly rev: number;
  readonly seq: number;
  readonly base: number;
  readonly sinceBase: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly parent?: ActorKey;
  readonly timers?: ActorState['timers'];
  readonly calls?: ActorState['calls'];
  readonly children?: ActorState['children'];
  readonly failures?: readonly number[];
  readonly halted?: ActorState['halted'];
  readonly places?: StatePlaces;
  readonly state: unknown;
}

/**
 * A record but for its position in the log. Made where the step is decided, so that what cannot be stored fails
 * the step and not the batch.
 */
export interface RecordDraft {
  readonly head: string;
  readonly tail: string;
}

/** `encoded` is the encoded snapshot; composed by hand because the log entry needs the same text. */
export function draftRecord(kind: Kind, id: string, state: ActorState, encoded: string): RecordDraft {
  const indexed = state.indexed === 0 ? '' : `,"indexed":${state.indexed}`;
  const head =
    `{"kind":"${kind.kind}","id":"${id}","machine":${JSON.stringify(kind.machine.id)}` +
    `,"version":${kind.version}${indexed},"rev":${state.revision}`;
  let text = `,"sinceBase":${state.sinceSnapshot},"createdAt":${state.createdAt},"updatedAt":${state.updatedAt}`;
  if (state.parent !== null) text += `,"parent":${JSON.stringify(state.parent)}`;
  if (state.timers !== none) text += `,"timers":${JSON.stringify(state.timers)}`;
  if (state.calls !== none) text += `,"calls":${JSON.stringify(state.calls)}`;
  if (state.children !== none) text += `,"children":${JSON.stringify(state.children)}`;
  if (state.failures !== noFailures) text += `,"failures":${JSON.stringify(state.failures)}`;
  if (state.halted !== null) text += `,"halted":${JSON.stringify(state.halted)}`;
  return { head, tail: `${text},"places":${JSON.stringify(state.places)},"state":${encoded}}` };
}

/** The record's row at its position. */
export const sealRecord = ({ head, tail }: RecordDraft, seq: number, base: number): string =>
  `${head},"seq":${seq},"base":${base}${tail}`;

/**
 * Back to a living revision: migrated where needed, validated by restoring it. Throws `UnreadableRecord` and
 * changes nothing.
 */
export function decodeRecord(kind: Kind, text: string): ActorState {
  const stored = JSON.parse(text) as Stored;
  const children: Record<string, string> = {};
  for (const [id, call] of Object.entries(stored.calls ?? none)) setOwn(children, id, call.src);
  for (const [id, child] of Object.entries(stored.children ?? none)) setOwn(children, id, child.src);
  return {
    revision: stored.rev,
    position: stored.seq,
    snapshotAt: stored.base,
    // Differences against a migrated snapshot would mean nothing to who reads the log: the next entry holds
    // it whole.
    sinceSnapshot: stored.version === kind.version ? stored.sinceBase : Infinity,
    createdAt: stored.createdAt,
    updatedAt: stored.updatedAt,
    parent: stored.parent ?? null,
    timers: stored.timers ?? none,
    calls: stored.calls ?? none,
    children: stored.children ?? none,
    failures: stored.failures ?? noFailures,
    halted: stored.halted ?? null,
    places: placesOfRecord(stored),
    indexed: stored.indexed ?? 0,
    snapshot: revive(kind, stored, children),
  };
}

/**
 * What callers would see of a stored record. A record of this version is read without bringing its machine to
 * life.
 */
export function viewOfRecord(kind: Kind, text: string): { readonly id: string; readonly view: Json } {
  const { snapshot, meta } = readRecord(kind, text);
  return { id: meta.id, view: kind.view(snapshot, meta) };
}

/** What a kind's own functions are given of a stored record. */
export function readRecord(
  kind: Kind,
  text: string,
): { readonly snapshot: AnyMachineSnapshot; readonly meta: Meta } {
  const stored = JSON.parse(text) as Stored;
  const meta = {
    kind: stored.kind,
    id: stored.id,
    revision: stored.rev,
    createdAt: stored.createdAt,
    updatedAt: stored.updatedAt,
    parent: stored.parent ?? null,
    halted: stored.halted ?? null,
  };
  const snapshot =
    stored.version === kind.version ? decodeState(stored.state) : decodeRecord(kind, text).snapshot;
  return { snapshot: snapshot as AnyMachineSnapshot, meta };
}

function revive(kind: Kind, stored: Stored, children: Readonly<Record<string, string>>): AnyMachineSnapshot {
  const where = `${stored.kind} ${stored.id} (version ${stored.version})`;
  let persisted: Persisted;
  try {
    persisted = migrate(kind, stored.version, decodeState(stored.state));
  } catch (cause) {
    throw new UnreadableRecord(
      `${where} could not be migrated to version ${kind.version}: ${reasonOf(cause)}`,
      { cause },
    );
  }
  try {
    const problem = kind.validateContext?.(persisted.context);
    if (problem !== undefined) throw new TypeError(`it has an invalid context: ${problem}`);
    const snapshot = (kind.driver ?? xstate5).restore(kind.machine, persisted, children);
    if (snapshot.value === undefined) throw new TypeError('the machine does not define its state');
    return snapshot;
  } catch (cause) {
    throw new UnreadableRecord(`${where} cannot be restored: ${reasonOf(cause)}`, { cause });
  }
}

function migrate(kind: Kind, from: number, persisted: Persisted): Persisted {
  if (from > kind.version)
    throw new RangeError(
      `it was written by version ${from}, and this program has ${kind.version}: start the newer program`,
    );
  let migrated = persisted;
  for (let version = from; version < kind.version; version += 1) {
    const next = kind.migrate?.[version];
    if (next === undefined) throw new RangeError(`missing migration from version ${version}`);
    const answer: unknown = next(copied(migrated));
    assertAtOnce(
      answer,
      `migrate[${version}] of the kind "${kind.kind}" must answer at once, not with a promise`,
    );
    if (typeof (answer as Partial<Persisted> | null | undefined)?.context !== 'object')
      throw new TypeError(
        `migrate[${version}] of the kind "${kind.kind}" must answer the actor with its context`,
      );
    migrated = answer as Persisted;
  }
  return migrated;
}

/** What a migration may change without reaching what another gives to every actor. Plain JSON is copied faster by hand. */
const copied = (persisted: Persisted): Persisted =>
  isPlain(persisted, true) ? { ...ownCopy(persisted) } : structuredClone(persisted);

/** A record that this build cannot bring to life. The original stays as it is. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

/**
 * A log entry before its position is known. Everything that costs is computed here; sealing only joins text.
 */
export interface EntryDraft {
  readonly tail: string;
  /** Parts of the tail that inspectors show. */
  readonly shown: readonly string[];
  readonly previous: number;
  /** Holds the whole snapshot; otherwise `snapshotAt` is the position of the last one that does. */
  readonly whole: boolean;
  readonly snapshotAt: number;
  readonly frames: LogEntry['frames'];
}

interface Input {
  readonly kind: Kind;
  readonly id: string;
  readonly before: ActorState | undefined;
  readonly state: ActorState;
  readonly event: AnyEventObject;
  /** The encoded snapshot, and the snapshot as data. */
  readonly encoded: string;
  readonly persisted: Persisted;
  readonly whole: boolean;
  readonly requested: RequestedActions;
  readonly cause: number | string | null;
  readonly by: Caller;
  readonly onBehalfOf?: readonly string[];
  readonly at: number;
}

export function draftEntry(input: Input): EntryDraft {
  const { kind, id, before, state, requested, whole } = input;
  const from = before === undefined ? 'null' : JSON.stringify(before.snapshot.value);
  const parent =
    before === undefined && state.parent !== null ? `,"parent":${JSON.stringify(state.parent)}` : '';
  const snapshot = whole ? `{"whole":${input.encoded}}` : difference(before as ActorState, input);
  const place = `,"at":${input.at},"kind":"${kind.kind}","id":"${id}","rev":${state.revision}`;
  const step =
    `,"version":${kind.version},"event":${eventText(input.event, kind.redacted)}` +
    `,"from":${from},"to":${JSON.stringify(state.snapshot.value)}` +
    `,"effects":${requested.effects.length === 0 ? '[]' : JSON.stringify(requested.effects)}`;
  const origin = `,"cause":${JSON.stringify(input.cause)},"by":${JSON.stringify(callerName(input.by))}`;
  const causes = causesOf(input);
  const tail =
    `${place},"machine":${JSON.stringify(kind.machine.id)}${step}` +
    `,"frames":${requested.frames.length === 0 ? '[]' : JSON.stringify(requested.frames)}` +
    `${origin}${agentOf(input.by)}${causes}${parent},"snapshot":${snapshot}}`;
  return {
    tail,
    shown: [place, step, origin, causes],
    previous: before?.position ?? 0,
    whole,
    snapshotAt: state.snapshotAt,
    frames: requested.frames,
  };
}

/** What a policy needs to know of an agent beside its id: without it a step could not be repeated. */
const agentOf = (by: Caller): string =>
  by.type === 'session'
    ? `,"agent":${JSON.stringify({ employee: by.employee, ancestors: by.ancestors })}`
    : '';

/** Who caused it, where that is not who sent it. The event itself carries the first of them whole. */
const causesOf = ({ onBehalfOf }: Input): string =>
  onBehalfOf === undefined ? '' : `,"onBehalfOf":${JSON.stringify(onBehalfOf)}`;

/** The entry's row and chain hash at its position. `totals`: a member that it carries for its group. */
export function sealDraft(
  draft: EntryDraft,
  seq: number,
  tx: number,
  last: boolean,
  prev: number,
  base: number,
  chain: string,
  totals: string,
): { readonly value: string; readonly chain: string; readonly shown: readonly string[] } {
  const head = `{"seq":${seq},"tx":${tx},"last":${last}`;
  const tail = totals === '' ? draft.tail : `${draft.tail.slice(0, -1)}${totals}}`;
  const sealed = sealEntry(chain, `${head},"prev":${prev},"base":${base}${tail}`);
  return { ...sealed, shown: [head, ...draft.shown] };
}

/**
 * What changed against the last revision: members of the context compare by identity, as `assign` leaves
 * them.
 */
function difference(before: ActorState, { state, persisted }: Input): string {
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
    const unset: string[] = [];
    for (const member in old) if (!Object.hasOwn(now, member)) unset.push(member);
    if (unset.length > 0) changed['unset'] = unset;
  }
  if (state.snapshot.value !== before.snapshot.value) changed['value'] = persisted.value;
  if (state.snapshot.historyValue !== before.snapshot.historyValue && persisted.historyValue !== undefined)
    changed['historyValue'] = persisted.historyValue; // what was remembered is never forgotten
  if (persisted.status !== undefined) changed['status'] = persisted.status;
  if (persisted.output !== undefined) changed['output'] = persisted.output;
  if (persisted.extra !== undefined) changed['extra'] = persisted.extra;
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
