import type { Caller } from '../caller.js';
import type { ActorKey, Json, Stamp } from '../outputs.js';
import { excerpt } from '../text.js';
import type { ActivityEntry, OpenMessage } from './activity-entry.js';
import type { PermissionAsked, ToolEvent, ToolPolicy } from './tool-policy.js';
import type { SandboxInForce, TurnBegan, UntrustedSettings } from './turn-began.js';

/**
 * The shapes of a session: what is given at creation, what it remembers, what can be sent to it. All plain
 * JSON; times are epoch milliseconds.
 */

export type MessageKind = 'user' | 'callback' | 'agent';

/**
 * A message as it arrives. `id` (`[A-Za-z0-9._:-]{1,64}`) is made by the command; `content` becomes a row and is
 * not remembered here.
 */
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
  readonly id: string;
  readonly at: number;
  readonly by?: Caller;
  readonly engine: string;
  readonly model: string | null;
  readonly effort: string | null;
  readonly employee: string | null;
  /** The employee whose rights it has, where that is not `employee`: it may have been opened by one below. */
  readonly actsAs?: string | null;
  /** Employees whose sandbox holds for it beside its own employee's: those of the agents that stand behind it. */
  readonly confinedAs?: readonly string[];
  readonly parentSessionId: string | null;
  /** Nearest first. */
  readonly ancestors: readonly string[];
  readonly workItemId: string | null;
  readonly title: string | null;
  /** The `#<n>` of the default title. */
  readonly number?: number;
  readonly cwd: string;
  /** The git branch of the worktree that `cwd` is. */
  readonly branch?: string;
  readonly source: string;
  readonly sourceRef: string | null;
  readonly interruptOnNewMessage: boolean;
  readonly turnDeadlineMs: number;
  readonly message?: MessageIn;
  /** The engine cannot work here: the session starts in `error` and says so. */
  readonly unavailable?: { readonly reason: string };
  /** What its agent may do without asking a person. Absent: it asks for everything. */
  readonly permissions?: ToolPolicy;
  readonly replyTo?: ReplyTo;
  /** The attempt at a step of a workflow that this session is opened for. */
  readonly step?: StepLink;
  /** To whom the end of its work is reported beside parent and work item. */
  readonly reportTo?: ActorKey;
  /** Messages of the session that this one is a copy of, oldest first; at most `transcriptMax`. */
  readonly transcript?: readonly MessageRow[];
}

/** An attempt at a step of a workflow: how the work on it ended is reported to its run, once. */
export type StepLink = {
  readonly runId: string;
  readonly nodeId: string;
  readonly round: number;
  readonly attempt: number;
};

/** A message that waits for a turn, or is in one. `n` is its row. */
export type QueueItem = {
  readonly id: string;
  readonly n: number;
  readonly kind: MessageKind;
  readonly createdAt: number;
  /** Shares the turn of the item before it. */
  readonly join: boolean;
};

export type Turn = {
  readonly id: string;
  readonly items: readonly QueueItem[];
  readonly startedAt: number;
  /** A process slot was got. */
  readonly began: boolean;
};

export type EngineSession = {
  readonly id: string;
  readonly model: string | null;
  readonly effortLevel: string | null;
  readonly lastSyncedAt: number;
};

/** What a session remembers; its messages are rows. */
export interface SessionContext {
  readonly id: string;
  readonly engine: string;
  readonly model: string | null;
  readonly effort: string | null;
  readonly employee: string | null;
  /** The employee whose rights it has; null: of none. */
  readonly actsAs: string | null;
  /** As in its input; absent in sessions of before it was kept. */
  readonly confinedAs?: readonly string[];
  readonly parentSessionId: string | null;
  readonly ancestors: readonly string[];
  readonly workItemId: string | null;
  readonly title: string;
  readonly promptExcerpt: string | null;
  readonly cwd: string;
  readonly source: string;
  readonly sourceRef: string | null;
  readonly interruptOnNewMessage: boolean;
  readonly turnDeadlineMs: number;
  readonly createdAt: number;
  readonly lastActivity: number;
  readonly lastError: string | null;
  /** The engine's own session ids, by engine. */
  readonly engineSessions: Readonly<Record<string, EngineSession>>;
  /** Rows of `messages` written so far; the last one's number. */
  readonly messages: number;
  /** Turns begun so far; names the next turn. */
  readonly turns: number;
  readonly turn: Turn | null;
  readonly queue: readonly QueueItem[];
  readonly queuePaused: boolean;
  /** Turns that were left and may still report what they had said by then. */
  readonly leftTurns: readonly string[];
  /** Work is going on whose end has not been reported to parent and work item. */
  readonly engaged: boolean;
  readonly attemptOutcome: Outcome | null;
  readonly attemptToken: string | null;
  /** Turns that reached an end. */
  readonly attemptTerminalVersion: number;
  readonly totalTurns: number;
  readonly totalCost: number;
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cachedTokens: number;
  };
  readonly lastContextTokens: number | null;
  readonly resetAt: number | null;
  /** Rate limits met in a row. */
  readonly waits: number;
  // The members below came later: a context from before them lacks them.
  readonly archivedAt?: number | null;
  readonly branch?: string;
  readonly toolPolicy?: ToolPolicy;
  readonly permissions?: readonly PermissionAsked[];
  readonly permissionsAsked?: number; // so far; the last one's row
  /** `totalCost` when the present piece of work began. */
  readonly costBefore?: number;
  readonly replyTo?: ReplyTo;
  /** Steps of workflows that wait for the end of the present work, and what the session had cost before. */
  readonly steps?: readonly (StepLink & { readonly costBefore: number })[];
  readonly reportTo?: ActorKey;
  readonly openMessages?: readonly OpenMessage[];
  /** How its agent was confined in the last turn that began. */
  readonly sandbox?: SandboxInForce;
  /** Settings of its project that the last turn left out, or would not begin with, since no one trusted them. */
  readonly untrusted?: UntrustedSettings | null;
}

/** Where the answers of a session go that is talked to from outside: a connector, its channel and thread. */
export type ReplyTo = {
  readonly connector: string;
  readonly channel: string;
  readonly thread: string | null;
};

export { excerpt };

export type Outcome = 'succeeded' | 'failed' | 'interrupted';

export type Usage = {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedTokens?: number;
  readonly costUsd?: number;
};

/** `content` is kept out of the log by its name. */
export type FoundEntry = {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly timestamp: number;
};

/** The input of a turn's effect. It reads prompt and transcript from the rows of `messages`. */
export interface TurnInput {
  readonly turnId: string;
  readonly messageIds: readonly string[];
  readonly engine: string;
  readonly model: string | null;
  readonly effort: string | null;
  readonly nativeId: string | null;
  readonly cwd: string;
  readonly employee: string | null;
  readonly parentSessionId: string | null;
  /** The top of the tree, for fairness between trees. */
  readonly rootSessionId?: string;
  readonly workItemId: string | null;
  readonly deadlineMs: number;
  /** Absent: a person is asked for every tool. */
  readonly toolPolicy?: ToolPolicy;
  /** Employees whose sandbox holds for it beside its own employee's. */
  readonly confinedAs?: readonly string[];
}

/**
 * What the effect of a turn answers: an engine's TurnResult; after a crash `interrupted`, with the pid that
 * would not be
 * confirmed gone.
 */
export interface TurnOutput {
  readonly outcome: Outcome | 'rate-limited';
  readonly text: string;
  readonly usage?: Usage;
  readonly error?: string;
  readonly resetAt?: number;
  readonly unconfirmedPid?: number;
  readonly changedFiles?: readonly string[];
}

/** What a session takes. */
export type SessionEvent = Stamp &
  (
    | {
        readonly type: 'message.post';
        readonly message: MessageIn;
        /** From the run whose step this message is. */ readonly step?: StepLink;
      }
    /** An assistant message with media, beside the turns: it starts no turn. */
    | {
        readonly type: 'media.insert';
        readonly message: { readonly id: string; readonly content: string; readonly media: Json };
      }
    /** Work was delegated beneath this session: a message shows it as a card. */
    | {
        readonly type: 'delegation.dispatched';
        readonly message: { readonly id: string; readonly content: string; readonly blocks: Json };
      }
    /**
     * Words of the engine's own record that are newer than anything known here: the conversation went on elsewhere.
     * Oldest first.
     */
    | { readonly type: 'transcript.found'; readonly entries: readonly FoundEntry[] }
    | TurnBegan
    /** A person has trusted those settings, or has said not to ask again. */
    | { readonly type: 'settings.judged'; readonly sha256: string }
    | { readonly type: 'turn.native'; readonly turnId: string; readonly nativeId: string }
    | {
        readonly type: 'turn.partial';
        readonly turnId: string;
        readonly text: string;
        readonly usage?: Usage;
      }
    | { readonly type: 'turn.recorded'; readonly turnId: string; readonly entries: readonly ActivityEntry[] }
    | { readonly type: 'session.stop'; readonly reason?: string }
    | { readonly type: 'queue.cancel'; readonly messageId: string }
    | { readonly type: 'queue.clear' }
    | { readonly type: 'queue.pause' }
    | { readonly type: 'queue.resume' }
    | {
        readonly type: 'session.patch';
        readonly title?: string;
        readonly engine?: string;
        readonly model?: string | null;
        readonly effort?: string | null;
      }
    | { readonly type: 'session.archive' }
    | { readonly type: 'session.unarchive' }
    | { readonly type: 'session.reset' }
    | { readonly type: 'session.delete' }
    | ToolEvent
    | { readonly type: 'session.erase' }
    | {
        readonly type: 'child.finished';
        readonly childId: string;
        readonly outcome: Outcome;
        readonly title: string;
        readonly text: string;
      }
  );

export type SessionEventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

export const limits = {
  queueMax: 200,
  joinedMax: 16,
  leftTurnsMax: 8,
  engineSessionsMax: 8,
  ancestorsMax: 32,
  titleCharsMax: 200,
  errorCharsMax: 1_000,
  /** Of a child's final message, as its parent gets it. */
  callbackCharsMax: 8_000,
  /** Of a session's answer, as a run gets it: an outcome may be in it. */
  stepCharsMax: 32_000,
  stepsMax: 16,
  transcriptMax: 200,
  /** Of an answer that goes out through a connector. */
  replyCharsMax: 16_000,
  permissionsMax: 16,
  rulesMax: 100,
  toolCharsMax: 200,
  toolInputCharsMax: 8_000,
} as const;
