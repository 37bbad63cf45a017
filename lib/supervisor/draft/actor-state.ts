import type { AnyMachineSnapshot } from 'xstate';
import type { ActorKey, Kind, Meta } from '../../../actors/contracts.js';
import type { Json } from '../../../machines/outputs.js';
import type { ActorView } from '../contract.js';
import { setOwn, isActorReference } from './codec.js';

/** One committed revision of an actor, in memory. Immutable: a commit replaces it whole. */
export interface ActorState {
  readonly revision: number;
  /** Log position of the last entry, and of the last entry that holds a whole snapshot. */
  readonly position: number;
  readonly snapshotAt: number;
  /** Entries since `snapshotAt`. */
  readonly sinceSnapshot: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly parent: ActorKey | null;
  readonly snapshot: AnyMachineSnapshot;
  readonly timers: Readonly<Record<string, Timer>>;
  readonly calls: Readonly<Record<string, Call>>;
  readonly children: Readonly<Record<string, ActorKey & { readonly src: string }>>;
  readonly failures: readonly number[];
  readonly halted: { readonly at: number; readonly reason: string } | null;
  /** In which states it stands, and since when. */
  readonly places: StatePlaces;
  /** Generation of the lists and totals in which it stands (`IndexGenerations`). */
  readonly indexed: number;
}

/** By innermost state: since when, epoch ms. */
export type StatePlaces = Readonly<Record<string, number>>;

/** A delayed event: due on the monotonic clock, epoch ms. */
export interface Timer {
  readonly due: number;
  readonly event: { readonly type: string };
  readonly target: string;
}

/** An effect in flight: `key` is `<rev>.<index>` of its start, its generation. */
export interface Call {
  readonly key: string;
  readonly src: string;
}

/** Shared by all actors that have none, so that an idle actor owns no empty objects. */
export const none: Readonly<Record<string, never>> = Object.freeze({});
export const noFailures: readonly number[] = Object.freeze([]);

export const metaOf = (key: ActorKey, state: ActorState): Meta => ({
  kind: key.kind,
  id: key.id,
  revision: state.revision,
  createdAt: state.createdAt,
  updatedAt: state.updatedAt,
  parent: state.parent,
  halted: state.halted,
});

/** What callers see of a revision. */
export function viewOf(kind: Kind, id: string, state: ActorState): ActorView {
  const meta = metaOf({ kind: kind.kind, id }, state);
  return {
    kind: kind.kind,
    id,
    revision: state.revision,
    position: state.position,
    meta,
    value: state.snapshot.value as Json,
    status: state.snapshot.status === 'stopped' ? 'done' : state.snapshot.status,
    view: kind.view(state.snapshot, meta),
  };
}

/**
 * A context is a value: who changes one in place changes what is committed, without a commit, and what a crash
 * would bring back is something else. While a program is being made that is an error, unless NODE_ENV is
 * `production`: what a context holds is frozen, and the context itself is looked at after every step (frozen, it
 * would cost each step a fifth: V8 copies frozen objects slowly). Actor references are left alone: they live.
 */
export const freezes = process.env['NODE_ENV'] !== 'production';

type Context = Readonly<Record<string, unknown>>;

/** Freeze what a new context holds, as far as the one before it (`earlier`) did not hold it. */
export function freezeMembers(context: Context, earlier?: Context): void {
  for (const member in context) {
    const value = context[member];
    if (typeof value === 'object' && value !== null && value !== earlier?.[member]) freeze(value);
  }
}

/** Throws where a step has changed the context that it began with; that one is as before then. */
export function assertUnchanged(context: Context, before: Context): void {
  let changed: string | undefined;
  for (const member in before)
    if (!Object.is(context[member], before[member]) || !Object.hasOwn(context, member)) changed ??= member;
  for (const member in context) if (!Object.hasOwn(before, member)) changed ??= member;
  if (changed === undefined) return;
  for (const member of Object.keys(context)) delete (context as Record<string, unknown>)[member];
  for (const member of Object.keys(before)) setOwn(context, member, before[member]);
  throw new TypeError(`context.${changed} was mutated in place (${remedy})`);
}

/** Freeze a value and what is in it; what is frozen already is not walked through again. */
export function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype || prototype === null) {
    if (isActorReference(value)) return;
    Object.freeze(value);
    for (const member in value) freeze((value as Record<string, unknown>)[member]);
  } else if (prototype === Array.prototype) {
    Object.freeze(value);
    for (const element of value as readonly unknown[]) freeze(element);
  } else if (prototype === Map.prototype || prototype === Set.prototype) {
    Object.freeze(Object.defineProperties(value, changeless));
    for (const [key, inner] of (value as Map<unknown, unknown>).entries()) {
      freeze(key);
      freeze(inner);
    }
  } else if (prototype === Date.prototype) {
    Object.freeze(Object.defineProperties(value, timeless));
  }
}

const refuseAll = (names: readonly string[]): PropertyDescriptorMap =>
  Object.fromEntries(
    names.map((name) => [
      name,
      {
        value: () => {
          throw new TypeError(`"${name}" would mutate a committed context`);
        },
      },
    ]),
  );
// Freezing does not reach what lies behind their methods
const changeless = refuseAll(['set', 'add', 'delete', 'clear']);
const timeless = refuseAll(
  Object.getOwnPropertyNames(Date.prototype).filter((name) => name.startsWith('set')),
);

const remedy = 'never mutate a context: assign a changed copy';
const inPlace =
  /read only property|not extensible|Cannot delete property|Cannot redefine|would mutate a committed/;

/** The same error, with what to do about it where a frozen context was the reason. */
export function explained(error: unknown): unknown {
  if (!freezes || !(error instanceof TypeError) || !inPlace.test(error.message)) return error;
  return new TypeError(`${error.message} (${remedy})`, { cause: error });
}
