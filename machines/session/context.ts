import type { ActorKey, Json, Stamp } from '../outputs.js';
import { excerpt } from '../text.js';
import type { ActivityEntry, OpenMessage } from './activity-entry.js';
import type { FoundEntry, MessageIn, MessageKind, MessageRow, ReplyTo, StepLink } from './input.js';
import type { KeptOutput, OutputSwept } from './kept-output.js';
import type { Placement, SandboxInForce, SilenceRule, TurnBegan, UntrustedSettings } from './turn-place.js';
import type { PermissionAsked, ToolEvent, ToolPolicy } from './tool-policy.js';

/** The shapes of a session: what it remembers, what can be sent to it. All plain JSON; times are epoch milliseconds. */

export type * from './input.js';
export type * from './turn-place.js';

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
  /** It goes on with a turn that was cut off, and is asked nothing else. */
  readonly isResumed?: true;
  /** How long it may be silent. Absent: as long as it likes. */
  readonly silence?: SilenceRule;
  /** Epoch milliseconds of its last output that was reported, or of the last decision that it waited for. */
  readonly heardAt?: number;
  /** Since when it counts as silent. Absent: it does not. */
  readonly silentSince?: number;
};

export type EngineSession = {
  readonly id: string;
  readonly model: string | null;
  readonly effortLevel: string | null;
  readonly lastSyncedAt: number;
};

/** What a session remembers; its messages are rows. */
export interface SessionContext {
  /** Id of the session. */
  readonly id: string;
  /** Who answers. */
  readonly engine: string;
  /** Null: the engine's default. */
  readonly model: string | null;
  /** Null: the model's default. */
  readonly effort: string | null;
  /** As whom the agent works; null: no one. */
  readonly employee: string | null;
  /** The employee whose rights it has; null: of none. */
  readonly actsAs: string | null;
  /** As in its input; absent in sessions of before it was kept. */
  readonly confinedAs?: readonly string[];
  /** Session that opened it; null: none. */
  readonly parentSessionId: string | null;
  /** Sessions above it, nearest first. */
  readonly ancestors: readonly string[];
  /** Work item that it works on; null: none. */
  readonly workItemId: string | null;
  /** Shown in lists. */
  readonly title: string;
  /** Beginning of the first message; null: there was none. */
  readonly promptExcerpt: string | null;
  /** Absolute path of the working folder. */
  readonly cwd: string;
  /** Where it comes from: `api`, `cron`, a connector … */
  readonly source: string;
  /** The source's own name of it; null: none. */
  readonly sourceRef: string | null;
  /** A message during a turn interrupts it, rather than wait. */
  readonly interruptOnNewMessage: boolean;
  /** A turn that takes longer is ended. */
  readonly turnDeadlineMs: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds of the last message or end of a turn. */
  readonly lastActivity: number;
  /** Why the last turn failed; null: it did not. */
  readonly lastError: string | null;
  /** The engine's own session ids, by engine. */
  readonly engineSessions: Readonly<Record<string, EngineSession>>;
  /** Rows of `messages` written so far; the last one's number. */
  readonly messages: number;
  /** Turns begun so far; names the next turn. */
  readonly turns: number;
  /** The turn that runs or waits for a slot; null: none. */
  readonly turn: Turn | null;
  /** Messages that wait for a turn, oldest first. */
  readonly queue: readonly QueueItem[];
  /** The next turn waits for a person. */
  readonly queuePaused: boolean;
  /** Turns that were left and may still report what they had said by then. */
  readonly leftTurns: readonly string[];
  /** Work is going on whose end has not been reported to parent and work item. */
  readonly engaged: boolean;
  /** How the last turn ended; null: none has. */
  readonly attemptOutcome: Outcome | null;
  /** Names the last turn that began; null: none has. */
  readonly attemptToken: string | null;
  /** Turns that reached an end. */
  readonly attemptTerminalVersion: number;
  /** Turns that ended. */
  readonly totalTurns: number;
  /** US dollars, as the engines report them. */
  readonly totalCost: number;
  /** Tokens of all turns, as the engines report them. */
  readonly usage: Tokens;
  /** Tokens in the context after the last turn; where its engine tells only sums, those of the turn. Null: unknown. */
  readonly lastContextTokens: number | null;
  /** How many tokens fit into the context that the last turn had; null or absent: unknown. */
  readonly contextWindow?: number | null;
  /** Epoch milliseconds until which a provider's limit holds; null: none. */
  readonly resetAt: number | null;
  /** Rate limits met in a row. */
  readonly waits: number;
  // The members below came later: a context from before them lacks them.
  /** Epoch milliseconds; null or absent: it is not archived. */
  readonly archivedAt?: number | null;
  /** Git branch of its worktree. */
  readonly branch?: string;
  /** What its agent may do without permission. Absent: nothing. */
  readonly toolPolicy?: ToolPolicy;
  /** Tool requests that wait for a decision. */
  readonly permissions?: readonly PermissionAsked[];
  /** Tool requests so far; the last one's row. */
  readonly permissionsAsked?: number; // so far; the last one's row
  /** `totalCost` when the present piece of work began. */
  readonly costBefore?: number;
  /** Where its answers go outside. */
  readonly replyTo?: ReplyTo;
  /** Steps of workflows that wait for the end of the present work, and what the session had cost before. */
  readonly steps?: readonly (StepLink & { readonly costBefore: number })[];
  /** Actor that gets the end of its work. */
  readonly reportTo?: ActorKey;
  /** Rows of messages whose tool or text is not at its end. */
  readonly openMessages?: readonly OpenMessage[];
  /** Results of tools that are still kept whole. Null or absent: there are none. */
  readonly toolOutput?: KeptOutput | null;
  /** How its agent was confined in the last turn that began. */
  readonly sandbox?: SandboxInForce;
  /** Settings of its project that the last turn left out, or would not begin with, since no one trusted them. */
  readonly untrusted?: UntrustedSettings | null;
  /** Where its turns are to run that do not run on the gateway's machine. Absent: there. */
  readonly placement?: Placement;
  /** Turns in a row that went on by themselves after the end of their gateway. */
  readonly resumes?: number;
  /** Messages of the last turn, where it was interrupted: they come again where it is resumed. */
  readonly unfinished?: readonly QueueItem[] | null;
}

export { excerpt };

export type Outcome = 'succeeded' | 'failed' | 'interrupted';

/** `cachedTokens` were read from the provider's cache. */
export type Tokens = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
};
/** Of a turn, as far as the engine knows it; US dollars. */
export type Usage = Partial<Tokens> & {
  readonly costUsd?: number;
  /** In the conversation after the last request of the turn, and how many fit. */
  readonly contextTokens?: number;
  readonly contextWindow?: number;
};

/** The input of a turn's effect. It reads prompt and transcript from the rows of `messages`. */
export interface TurnInput {
  /** Names the turn. */
  readonly turnId: string;
  /** Messages that it answers, oldest first. */
  readonly messageIds: readonly string[];
  /** Who answers. */
  readonly engine: string;
  /** Null: the engine's default. */
  readonly model: string | null;
  /** Null: the model's default. */
  readonly effort: string | null;
  /** The engine's own session id of an earlier turn; null: none. */
  readonly nativeId: string | null;
  /** Absolute path of the working folder. */
  readonly cwd: string;
  /** As whom the agent works; null: no one. */
  readonly employee: string | null;
  /** Session that opened it; null: none. */
  readonly parentSessionId: string | null;
  /** The top of the tree, for fairness between trees. */
  readonly rootSessionId?: string;
  /** Work item that it works on; null: none. */
  readonly workItemId: string | null;
  /** Milliseconds after which it is ended. */
  readonly deadlineMs: number;
  /** Absent: a person is asked for every tool. */
  readonly toolPolicy?: ToolPolicy;
  /** Employees whose sandbox holds for it beside its own employee's. */
  readonly confinedAs?: readonly string[];
  /** On a worker of another machine. Absent: on the gateway's. */
  readonly placement?: Placement;
  /** It goes on with a turn that was cut off, and is asked nothing else. */
  readonly isResumed?: true;
}

/**
 * What the effect of a turn answers: an engine's TurnResult; after a crash `interrupted`, with the pid that
 * would not be
 * confirmed gone.
 */
export interface TurnOutput {
  /** How it ended; `rate-limited` waits until `resetAt` and begins again. */
  readonly outcome: Outcome | 'rate-limited';
  /** The answer; of a turn that failed, as far as it came. */
  readonly text: string;
  /** Tokens and cost, as far as the engine knows them. */
  readonly usage?: Usage;
  /** Why it failed, as a sentence. */
  readonly error?: string;
  /** Epoch milliseconds of the end of a provider's limit. */
  readonly resetAt?: number;
  /** Process of which no one knows whether it has ended. */
  readonly unconfirmedPid?: number;
  /** Paths below the working folder. */
  readonly changedFiles?: readonly string[];
  /** It was `interrupted` because its gateway ended; `resume`: it goes on by itself. */
  readonly cut?: 'wait' | 'resume';
}

/** What a session takes. */
export type SessionEvent = Stamp &
  (
    | {
        readonly type: 'message.post';
        /** For the agent: it begins a turn, joins the queue or interrupts, as the session is set. */
        readonly message: MessageIn;
        /** From the run whose step this message is. */ readonly step?: StepLink;
      }
    /** An assistant message (`id`, `content`) with `media`, beside the turns: it starts no turn. */
    | {
        readonly type: 'media.insert';
        readonly message: { readonly id: string; readonly content: string; readonly media: Json };
      }
    /** Work was delegated beneath this session: a message (`id`, `content`) shows it as a card, in `blocks`. */
    | {
        readonly type: 'delegation.dispatched';
        readonly message: { readonly id: string; readonly content: string; readonly blocks: Json };
      }
    /**
     * Words of the engine's own record that are newer than anything known here: the conversation went on elsewhere.
     * Oldest first.
     */
    | { readonly type: 'transcript.found'; readonly entries: readonly FoundEntry[] }
    /** Messages of before, oldest first, of a session that was imported and has `after` messages by now. */
    | { readonly type: 'history.imported'; readonly after: number; readonly entries: readonly MessageRow[] }
    | TurnBegan
    /** A person has trusted those settings, or has said not to ask again. */
    | { readonly type: 'settings.judged'; readonly sha256: string }
    /** The engine's own session id, `nativeId`, which its next turn continues. */
    | { readonly type: 'turn.native'; readonly turnId: string; readonly nativeId: string }
    /** What a turn that was left had said by then, and what it used. */
    | {
        readonly type: 'turn.partial';
        readonly turnId: string;
        readonly text: string;
        readonly usage?: Usage;
      }
    /** What the turn did meanwhile, in order: at most 64 entries, 512 KiB as JSON. */
    | { readonly type: 'turn.recorded'; readonly turnId: string; readonly entries: readonly ActivityEntry[] }
    | OutputSwept
    | SilenceEvent
    /** A turn that was interrupted goes on. */
    | { readonly type: 'session.resume' }
    /** The turn is interrupted, for a `reason` in a sentence; what waits stays. */
    | { readonly type: 'session.stop'; readonly reason?: string }
    /** A message that waits is withdrawn. */
    | { readonly type: 'queue.cancel'; readonly messageId: string }
    /** It waits at another place from now on: 1 is next, and a place behind the end is the end. */
    | { readonly type: 'queue.move'; readonly messageId: string; readonly place: number }
    | { readonly type: 'queue.clear' }
    | { readonly type: 'queue.pause' }
    | { readonly type: 'queue.resume' }
    /** Other settings, from the next turn on; an absent member stays as it is, null is the engine's default. */
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
    /** A session that this one opened has ended its work: its title, and the answer of `limits.callbackCharsMax`. */
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

export type SilenceEvent =
  /** Output came; the last of it `quietMs` ago. */
  | { readonly type: 'turn.heard'; readonly turnId: string; readonly quietMs: number }
  | { readonly type: 'turn.silent'; readonly turnId: string };
