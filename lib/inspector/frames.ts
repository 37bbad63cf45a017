import type { ActorKey, Json } from '../../machines/outputs.js';

/**
 * What `/ws/inspect` says: the one page that the feed and anyone who reads it (the page, a terminal, a host)
 * agree on. Types only, so that a browser can import it.
 *
 * Ask `/ws/inspect?since=<seq>&kinds=a,b&ids=x,y&tree=session/s1&refusals=1`, or send `Subscribe` at any
 * time. A client moves its cursor to the `seq` of every frame that has one, and resumes from there after a
 * disconnect.
 */
export type InspectFrame =
  | HelloFrame
  | EntriesFrame
  | RefusalsFrame
  | ResetFrame
  | CursorFrame
  | PongFrame
  | ComplaintFrame;

/** First of all: where the log stands. `from` is where this watch begins (exclusive). */
export interface HelloFrame {
  readonly event: 'hello';
  readonly seq: null;
  readonly payload: { readonly head: number; readonly floor: number; readonly from: number };
  /** Epoch ms; of every frame. */
  readonly ts: number;
}

/**
 * What was committed after log position `from`, up to and including `seq` of the frame. At most ten such frames a
 * second, six where much happens, and at most 100 entries in each: where more happened, `entries` holds the youngest of
 * them and `skipped` counts the others. Holes between positions are normal under a filter; without `skipped` nothing
 * that was asked for is missing. A replay (`since`) skips nothing.
 */
export interface EntriesFrame {
  readonly event: 'entries';
  readonly seq: number;
  readonly payload: {
    readonly from: number;
    readonly entries: readonly InspectEntry[];
    readonly skipped?: { readonly total: number; readonly kinds: Readonly<Record<string, number>> };
  };
  readonly ts: number;
}

/**
 * One step of one actor, oldest first within a frame. `GET /api/inspect/actors/:kind/:id/history` and
 * `/api/inspect/causes/:seq` answer the same shape.
 */
export interface InspectEntry extends ActorKey {
  readonly seq: number;
  /** Entries of one commit share it: the `seq` of its first. */
  readonly tx: number;
  readonly last: boolean;
  /** Epoch ms. */
  readonly at: number;
  readonly rev: number;
  readonly version: number;
  /**
   * The event as logged: long texts that people wrote stand as `{sha256, chars}`. Creations are
   * `kernel.created`, faults `kernel.dead-letter`.
   */
  readonly event: { readonly type: string } & Readonly<Record<string, Json | undefined>>;
  /** XState values; `from` is null at creation. */
  readonly from: Json;
  readonly to: Json;
  /** Effects started by `src`; with a leading `-` those that were left. */
  readonly effects: readonly string[];
  /** Log position or name of what caused it: `12`, `"effect:3.0"`, `"timer"`, the name of a plan. */
  readonly cause: number | string | null;
  /** `operator`, `session:<id>`, `effect:<src>` … */
  readonly by: string;
  /** Who caused it, where that is not who sent it. */
  readonly onBehalfOf?: readonly string[];
  /**
   * What it changed in the context, where that was asked for (history with `diff=1`): members set and unset.
   */
  readonly diff?: {
    readonly whole?: true;
    readonly set?: Readonly<Record<string, Json>>;
    readonly unset?: readonly string[];
  };
}

/**
 * Events that were refused since the last such frame: nothing of them is written, nothing of them is
 * replayed.
 */
export interface RefusalsFrame {
  readonly event: 'refusals';
  readonly seq: null;
  readonly payload: { readonly refusals: readonly InspectRefusal[]; readonly skipped?: number };
  readonly ts: number;
}

export interface InspectRefusal extends ActorKey {
  readonly at: number;
  readonly event: { readonly type: string };
  readonly refusal: { readonly code: string; readonly message: string };
}

/**
 * What was asked for is below the retention floor (or beyond a log that was restored from a backup): read
 * again by REST, go on from `head`.
 */
export interface ResetFrame {
  readonly event: 'reset';
  readonly seq: null;
  readonly payload: { readonly floor: number; readonly head: number };
  readonly ts: number;
}

/** Every five seconds: everything up to here was told. */
export interface CursorFrame {
  readonly event: 'cursor';
  readonly seq: number;
}

export interface PongFrame {
  readonly event: 'pong';
  readonly payload: Readonly<Record<string, never>>;
}

/** The client said something that is not understood. */
export interface ComplaintFrame {
  readonly event: 'error';
  readonly seq: null;
  readonly payload: { readonly error: string; readonly code: string };
  readonly ts: number;
}

/** What a client may send. */
export type InspectRequest =
  | { readonly event: 'ping' }
  /** From there again. */
  | { readonly type: 'resume'; readonly since: number }
  /** Replaces the filter; what is absent is not filtered. Goes on at the cursor. */
  | ({ readonly type: 'subscribe' } & InspectFilter);

export interface InspectFilter {
  readonly kinds?: readonly string[];
  readonly ids?: readonly string[];
  /** An actor and everything beneath it, also what is created later. */
  readonly tree?: ActorKey;
  readonly refusals?: boolean;
}

/**
 * Close codes. 4008: too slow, resume from your cursor. 4001: the credential has ended. 1001: the gateway is
 * going.
 */
export const closeCodes = { tooSlow: 4008, credentialEnded: 4001, goingAway: 1001 } as const;
