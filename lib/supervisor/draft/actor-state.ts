import type { AnyMachineSnapshot } from 'xstate';
import type { ActorKey, Kind, Meta } from '../../../actors/contracts.js';
import type { Json } from '../../../machines/outputs.js';
import type { ActorView } from '../contract.js';

/** One committed revision of an actor, in memory. Immutable: a commit replaces it whole. */
export interface ActorState {
  readonly rev: number;
  /** Log position of the last entry, and of the last entry that holds a whole snapshot. */
  readonly seq: number;
  readonly base: number;
  /** Entries since `base`. */
  readonly sinceBase: number;
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

export const metaOf = (key: ActorKey, live: ActorState): Meta => ({
  kind: key.kind,
  id: key.id,
  revision: live.rev,
  createdAt: live.createdAt,
  updatedAt: live.updatedAt,
  parent: live.parent,
  halted: live.halted,
});

/** What callers see of a revision. */
export function viewOf(kind: Kind, id: string, live: ActorState): ActorView {
  const meta = metaOf({ kind: kind.kind, id }, live);
  return {
    kind: kind.kind,
    id,
    revision: live.rev,
    position: live.seq,
    meta,
    value: live.snapshot.value as Json,
    status: live.snapshot.status === 'stopped' ? 'done' : live.snapshot.status,
    view: kind.view(live.snapshot, meta),
  };
}
