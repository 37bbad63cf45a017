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

/** First of all: where the log stands. */
export interface HelloFrame {
  /** Names the frame. */
  readonly event: 'hello';
  /** It has no place in the log. */
  readonly seq: null;
  /** Positions of the log. */
  readonly payload: {
    /** Youngest position of the log. */
    readonly head: number;
    /** Everything up to here was removed. */
    readonly floor: number;
    /** Where this watch begins (exclusive). */
    readonly from: number;
  };
  /** Epoch milliseconds. */
  readonly ts: number;
}

/**
 * What was committed after log position `from`, up to and including `seq` of the frame. At most ten such frames a
 * second, six where much happens, and at most 100 entries in each: where more happened, `entries` holds the youngest of
 * them and `skipped` counts the others. Holes between positions are normal under a filter; without `skipped` nothing
 * that was asked for is missing. A replay (`since`) skips nothing.
 */
export interface EntriesFrame {
  /** Names the frame. */
  readonly event: 'entries';
  /** Everything up to this log position has come. */
  readonly seq: number;
  /** What was committed. */
  readonly payload: {
    /** Log position after which it begins. */
    readonly from: number;
    /** Oldest first. */
    readonly entries: readonly InspectEntry[];
    /** How many more there were: in `total`, and of which `kinds`. */
    readonly skipped?: { readonly total: number; readonly kinds: Readonly<Record<string, number>> };
  };
  /** Epoch milliseconds. */
  readonly ts: number;
}

/**
 * One step of one actor, oldest first within a frame. `GET /api/inspect/actors/:kind/:id/history` and
 * `/api/inspect/causes/:seq` answer the same shape.
 */
export interface InspectEntry extends ActorKey {
  /** Its log position. */
  readonly seq: number;
  /** Entries of one commit share it: the `seq` of its first. */
  readonly tx: number;
  /** It ends its commit. */
  readonly last: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
  /** How many events the actor had committed with it. */
  readonly rev: number;
  /** Of the kind. */
  readonly version: number;
  /**
   * The event as logged: long texts that people wrote stand as `{sha256, chars}`. Creations are
   * `kernel.created`, faults `kernel.dead-letter`.
   */
  readonly event: { readonly type: string } & Readonly<Record<string, Json | undefined>>;
  /** XState values; `from` is null at creation. */
  readonly from: Json;
  /** The state after it. */
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
   * What it changed in the context, where that was asked for (history with `diff=1`): members `set` and `unset`;
   * `whole`: `set` is the context itself.
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
  /** Names the frame. */
  readonly event: 'refusals';
  /** It has no place in the log. */
  readonly seq: null;
  /** `refusals`, oldest first; `skipped`: how many more there were. */
  readonly payload: { readonly refusals: readonly InspectRefusal[]; readonly skipped?: number };
  /** Epoch milliseconds. */
  readonly ts: number;
}

/** An event that an actor did not take. */
export interface InspectRefusal extends ActorKey {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Its type alone. */
  readonly event: { readonly type: string };
  /** Why: `code` for programs, `message` for people. */
  readonly refusal: { readonly code: string; readonly message: string };
}

/**
 * What was asked for is below the retention floor (or beyond a log that was restored from a backup): read
 * again by REST, go on from `head`.
 */
export interface ResetFrame {
  /** Names the frame. */
  readonly event: 'reset';
  /** It has no place in the log. */
  readonly seq: null;
  /** Everything up to `floor` was removed; `head` is the youngest position. */
  readonly payload: { readonly floor: number; readonly head: number };
  /** Epoch milliseconds. */
  readonly ts: number;
}

/** Every five seconds, so that a watch of few kinds moves with the log, too. */
export interface CursorFrame {
  /** Names the frame. */
  readonly event: 'cursor';
  /** Everything up to this log position has come. */
  readonly seq: number;
}

/** The answer to a ping. */
export interface PongFrame {
  /** Names the frame. */
  readonly event: 'pong';
  /** Empty. */
  readonly payload: Readonly<Record<string, never>>;
}

/** The client said something that is not understood. */
export interface ComplaintFrame {
  /** Names the frame. */
  readonly event: 'error';
  /** It has no place in the log. */
  readonly seq: null;
  /** `error`: a sentence; `code` for programs. */
  readonly payload: { readonly error: string; readonly code: string };
  /** Epoch milliseconds. */
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
