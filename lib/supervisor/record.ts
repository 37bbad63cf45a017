import type { AnyMachineSnapshot } from 'xstate';
import type { ActorKey, Kind, Persisted } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import { decodeState } from './codec.js';
import { restore } from './step.js';
import { noFailures, none, type ActorState } from './actor-state.js';
import { setOwn } from './own-members.js';
import { placesOfRecord, type StatePlaces } from './state-index.js';

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

/** `state` is the encoded snapshot; composed by hand because the log entry needs the same text. */
export function draftRecord(kind: Kind, id: string, live: ActorState, state: string): RecordDraft {
  const head = `{"kind":"${kind.kind}","id":"${id}","machine":${JSON.stringify(kind.machine.id)},"version":${kind.version}${live.indexed === 0 ? '' : `,"indexed":${live.indexed}`},"rev":${live.rev}`;
  let text = `,"sinceBase":${live.sinceBase},"createdAt":${live.createdAt},"updatedAt":${live.updatedAt}`;
  if (live.parent !== null) text += `,"parent":${JSON.stringify(live.parent)}`;
  if (live.timers !== none) text += `,"timers":${JSON.stringify(live.timers)}`;
  if (live.calls !== none) text += `,"calls":${JSON.stringify(live.calls)}`;
  if (live.children !== none) text += `,"children":${JSON.stringify(live.children)}`;
  if (live.failures !== noFailures) text += `,"failures":${JSON.stringify(live.failures)}`;
  if (live.halted !== null) text += `,"halted":${JSON.stringify(live.halted)}`;
  return { head, tail: `${text},"places":${JSON.stringify(live.places)},"state":${state}}` };
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
    rev: stored.rev,
    seq: stored.seq,
    base: stored.base,
    // Differences against a migrated snapshot would mean nothing to who reads the log: the next entry holds
    // it whole.
    sinceBase: stored.version === kind.version ? stored.sinceBase : Infinity,
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
  return { id: stored.id, view: kind.view(snapshot as AnyMachineSnapshot, meta) };
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
  const problem = kind.validateContext?.(persisted.context);
  if (problem !== undefined) throw new UnreadableRecord(`${where} has an invalid context: ${problem}`);
  try {
    const snapshot = restore(kind.machine, persisted, children);
    if (snapshot.value === undefined) throw new TypeError('the machine does not define its state');
    return snapshot;
  } catch (cause) {
    throw new UnreadableRecord(`${where} cannot be restored: ${reasonOf(cause)}`, { cause });
  }
}

function migrate(kind: Kind, from: number, persisted: Persisted): Persisted {
  if (from > kind.version) throw new RangeError(`it was written by a newer version (${from}) of Troupe`);
  let migrated = persisted;
  for (let version = from; version < kind.version; version += 1) {
    const next = kind.migrate?.[version];
    if (next === undefined) throw new RangeError(`missing migration from version ${version}`);
    migrated = next(structuredClone(migrated));
  }
  return migrated;
}

/** A record that this build cannot bring to life. The original stays as it is. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
