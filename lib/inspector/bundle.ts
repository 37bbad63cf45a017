import type { ActorKey, Json } from '../../machines/outputs.js';
import type { Caller } from '../../machines/caller.js';

/**
 * A bug bundle: what happened to some actors, without what people wrote, so that it can be given away. It
 * holds the state that each of them began with, the events as logged, and the hash of the state that each
 * event led to: anyone who has the same machines can replay it, and learns that it comes to the same, or at
 * which entry it does not.
 */
export interface Bundle {
  readonly format: 'troupe-bundle';
  readonly version: 1;
  /** Epoch ms. */
  readonly madeAt: number;
  readonly troupe: string;
  readonly node: string;
  /** Positions of the first and last entry. */
  readonly from: number;
  readonly to: number;
  /** The slice was longer than a bundle may be. */
  readonly truncated: boolean;
  readonly machines: Readonly<Record<string, { readonly version: number; readonly hash: string }>>;
  readonly actors: readonly BundledActor[];
}

export interface BundledActor extends ActorKey {
  /** As it was before the first entry; null where that is its creation. */
  readonly start: { readonly seq: number; readonly state: BundledState } | null;
  readonly entries: readonly BundledEntry[];
}

/** As the store encodes it. */
export type BundledState = Json;

export interface BundledEntry {
  readonly seq: number;
  readonly tx: number;
  readonly at: number;
  readonly rev: number;
  /** Version of the kind that decided it. */
  readonly version: number;
  readonly event: { readonly type: string } & Readonly<Record<string, Json | undefined>>;
  readonly by: Caller;
  readonly cause: number | string | null;
  readonly from: Json;
  readonly to: Json;
  readonly effects: readonly string[];
  /** Of the state after it, and of each member of the context that it changed. */
  readonly state: string;
  readonly changed: Readonly<Record<string, string>>;
}

export const bundleEntriesMax = 5_000;
