import type { Caller } from '../caller.js';
import type { ActorKey, Json } from '../outputs.js';
import type { Placement } from './turn-place.js';
import type { ToolPolicy } from './tool-policy.js';

/** What a session is created with. Plain JSON; times are epoch milliseconds. */

export type MessageKind = 'user' | 'callback' | 'agent';

/** A message as it is kept; `timestamp` in epoch milliseconds. */
export interface MessageRow {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly timestamp: number;
  readonly media?: Json;
  readonly meta?: Json;
  /** Cards, `{id, type, version, status, payload}`. */
  readonly blocks?: Json;
  /** The tool that it tells of, and the agent's own id of that call. */
  readonly toolCall?: string;
  readonly toolId?: string;
  readonly partial?: boolean;
}

/**
 * A message as it arrives. `id` (`[A-Za-z0-9._:-]{1,64}`) is made by the command; `content` becomes a row and is
 * not remembered by the session.
 */
export interface MessageIn {
  readonly id: string;
  readonly content: string;
  readonly role: 'user' | 'notification';
  readonly kind: MessageKind;
  readonly media?: Json;
  readonly meta?: Json;
}

/** `input` of the machine; the kernel adds `id`, `at`, `by`. */
export interface SessionInput {
  /** Id of the session. */
  readonly id: string;
  /** Epoch milliseconds of the creation. */
  readonly at: number;
  /** Who opens it. */
  readonly by?: Caller;
  /** Who answers. */
  readonly engine: string;
  /** Null: the engine's default. */
  readonly model: string | null;
  /** Null: the model's default. */
  readonly effort: string | null;
  /** As whom the agent works; null: no one. */
  readonly employee: string | null;
  /** The employee whose rights it has, where that is not `employee`: it may have been opened by one below. */
  readonly actsAs?: string | null;
  /** Employees whose sandbox holds for it beside its own employee's: those of the agents that stand behind it. */
  readonly confinedAs?: readonly string[];
  /** Session that opens it; null: none. */
  readonly parentSessionId: string | null;
  /** Nearest first. */
  readonly ancestors: readonly string[];
  /** Work item that it works on; null: none. */
  readonly workItemId: string | null;
  /** Null: one is made of the first message or of `number`. */
  readonly title: string | null;
  /** The `#<n>` of the default title. */
  readonly number?: number;
  /** Absolute path of the working folder; it exists. */
  readonly cwd: string;
  /** The git branch of the worktree that `cwd` is. */
  readonly branch?: string;
  /** Where it comes from: `api`, `cron`, a connector … */
  readonly source: string;
  /** The source's own name of it; null: none. */
  readonly sourceRef: string | null;
  /** A message during a turn interrupts it, rather than wait. */
  readonly interruptOnNewMessage: boolean;
  /** A turn that takes longer is ended. */
  readonly turnDeadlineMs: number;
  /** The first message. Absent: it waits for one. */
  readonly message?: MessageIn;
  /** The engine cannot work here: the session starts in `error` and says so. */
  readonly unavailable?: { readonly reason: string };
  /** What its agent may do without permission. Absent: it asks for everything. */
  readonly permissions?: ToolPolicy;
  /** On which worker its turns run. Absent: on the gateway's machine. */
  readonly placement?: Placement;
  /** Where its answers go outside. */
  readonly replyTo?: ReplyTo;
  /** The attempt at a step of a workflow that this session is opened for. */
  readonly step?: StepLink;
  /** To whom the end of its work is reported beside parent and work item. */
  readonly reportTo?: ActorKey;
  /** Messages of the session that this one is a copy of, oldest first; at most `transcriptMax`. */
  readonly transcript?: readonly MessageRow[];
  /** What it was in the home that it was exported from. */
  readonly past?: Past;
}

/** Of a session that was imported: what its turns of before used, and when the last one was (epoch milliseconds). */
export type Past = {
  readonly lastActivity: number;
  readonly totalTurns: number;
  readonly totalCost: number;
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cachedTokens: number;
  };
};

/** An attempt at a step of a workflow: how the work on it ended is reported to its run, once. */
export type StepLink = {
  readonly runId: string;
  readonly nodeId: string;
  readonly round: number;
  readonly attempt: number;
};

/** Where the answers of a session go that is talked to from outside: a connector, its channel and thread. */
export type ReplyTo = {
  readonly connector: string;
  readonly channel: string;
  readonly thread: string | null;
};

/** `content` is kept out of the log by its name. */
export type FoundEntry = {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly timestamp: number;
};
