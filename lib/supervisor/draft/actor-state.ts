import type { AnyMachineSnapshot } from 'xstate';
import type { ActorKey, Kind, Meta } from '../../../actors/contracts.js';
import type { Json } from '../../../machines/outputs.js';
import type { ActorView } from '../contract.js';

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
