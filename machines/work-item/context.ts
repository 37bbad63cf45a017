import { callerName } from '../caller.js';
import { excerpt } from '../text.js';
import type { Stamp } from '../outputs.js';
import type { WorkStatus } from './edges.js';
import type { VerifyPolicy, WorkItemFacts, WorkItemInput } from './input.js';

/** The shapes of a work item: what it remembers, what can be sent to it. All plain JSON; times are epoch milliseconds. */

export type * from './input.js';

/** `n` is its row in `attempts`. A session that works again later is a new attempt with a new row. */
export type Attempt = {
  readonly sessionId: string;
  readonly employee: string | null;
  readonly live: boolean;
  readonly n?: number;
  readonly startedAt?: number;
};

export type Approval = {
  /** Its row in `approvals`. */
  readonly n: number;
  readonly requestId: string;
  readonly request: string;
  readonly target: string | null;
  readonly targetKind: TargetKind;
  readonly requestedBy: string;
  readonly requestedAt: number;
  readonly expiresAt: number | null;
  readonly escalatedAt: number | null;
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
  /**
   * The parked gate of a workflow run that this request mirrors: decided together with it, in one
   * transaction.
   */
  readonly gate?: Gate;
};

export type Gate = { readonly runId: string; readonly gateKey: string };

/** The review of a round by the verifier whom the policy names. */
export type Review = {
  /** The bounces before it. */
  readonly round: number;
  readonly employee: string;
  /** null: it is due. */
  readonly sessionId: string | null;
  /** Why there is none, or no verdict of it: a person decides then. */
  readonly refused?: string;
};

export type TargetKind = 'employee' | 'virtual' | 'none';

/** What a work item remembers; its ledger is rows. */
export interface WorkItemContext {
  /** `TRP-7`: prefix and number. */
  readonly id: string;
  /** One line. */
  readonly title: string;
  /** Markdown; null: none. */
  readonly body: string | null;
  /** What must hold when it is done; null: nothing is said. */
  readonly acceptance: string | null;
  /** Null: of no department. */
  readonly department: string | null;
  /** Employee who works on it; null: no one. */
  readonly assignee: string | null;
  /** 0 to 3. */
  readonly priority: number;
  /** Place that a person gave it by hand; null: none. */
  readonly rank: number | null;
  /** What its agents may cost, in US dollars; null: no bound of its own. */
  readonly budgetUsd: number | null;
  /** Grows with every change that a person sees. */
  readonly version: number;
  /** Where it comes from: `api`, `session` … */
  readonly source: string;
  /** The source's own name of it; null: none. */
  readonly sourceRef: string | null;
  /** Whether and by whom attempts are reviewed; null: they are trusted. */
  readonly verifyPolicy: VerifyPolicy | null;
  /** Reviews that sent it back. */
  readonly rounds: number;
  /** Work item that it is a part of; null: none. */
  readonly parentId: string | null;
  /** As `callerName` writes it. */
  readonly createdBy: string;
  /** Session (`sessionId`) and `employee` that created it; null: a person. */
  readonly creator: { readonly sessionId: string | null; readonly employee: string | null };
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds of its last change. */
  readonly updatedAt: number;
  /** Epoch milliseconds; null while it is open. */
  readonly closedAt: number | null;
  /** It is kept out of the lists. */
  readonly archived: boolean;
  /** Declared blocked or in review by hand; attempts do not overwrite that. */
  readonly declared: boolean;
  /** The last sessions that worked on it, oldest first. */
  readonly attempts: readonly Attempt[];
  /** Who worked on it first; null: no one yet. */
  readonly firstAttemptEmployee: string | null;
  /** The latest request, whatever became of it; null when it was withdrawn or ran out. */
  readonly approval: Approval | null;
  /** Rows written so far. */
  readonly events: number;
  /** Requests for approval so far; the last one's row. */
  readonly approvals: number;
  /** Comments so far; the last one's row. */
  readonly comments: number;
  // Absent until there is something to say, so that the many items without them stay small.
  /** Top of the tree that it hangs in. */
  readonly rootId?: string | null;
  /** How far below the top it hangs, 1 to 3. */
  readonly depth?: number;
  /** Epoch milliseconds; null: never. */
  readonly dueAt?: number | null;
  /** In the order given. */
  readonly labels?: readonly string[];
  /** Other items that it blocks, duplicates or relates to. */
  readonly links?: readonly Link[];
  /** What became of the last request where it was not decided. */
  readonly withdrawn?: 'expired' | 'cancelled' | null;
  /** Sub-tasks so far. */
  readonly children?: number;
  /** The last review by the verifier; null: a person took the item up again. */
  readonly review?: Review | null;
  /** Rows of `attempts` so far. */
  readonly runs?: number;
  /** What they cost, in US dollars, as far as their engines say; absent: nothing, or it is from before this was kept. */
  readonly costUsd?: number;
  /** Epoch milliseconds since when it has its status; absent: it is from before this was kept. */
  readonly statusAt?: number;
  /** Grows whenever a comment is edited or deleted: who changes one says which edition they saw. */
  readonly commentEdition?: number;
}

export type AttemptOutcome = 'succeeded' | 'failed' | 'interrupted';
export type WorkItemPatch = {
  readonly title?: string;
  readonly body?: string | null;
  readonly acceptance?: string | null;
  readonly assignee?: string | null;
  readonly department?: string | null;
  readonly priority?: number;
  readonly rank?: number | null;
  readonly verifyPolicy?: VerifyPolicy | null;
  /** Epoch ms. */
  readonly dueAt?: number | null;
};

/** What a work item takes. */
export type WorkItemEvent = Stamp<WorkItemFacts> &
  (
    | {
        readonly type: 'item.move';
        /** Another than it has. */
        readonly status: WorkStatus;
        /** Why, where the move needs it: at most `limits.noteCharsMax` characters. */
        readonly note?: string;
      }
    /** To an employee of the roster; `department`: theirs, null: unchanged. */
    | { readonly type: 'item.assign'; readonly assignee: string; readonly department: string | null }
    /** Out of the lists, with a `note` that says why. */
    | { readonly type: 'item.archive'; readonly note?: string }
    /** `expectedVersion`: the item's `version` as the caller read it; another one is refused. */
    | { readonly type: 'item.edit'; readonly patch: WorkItemPatch; readonly expectedVersion: number }
    /** `text` of at most `limits.commentBytesMax`, under an id that the caller makes. */
    | { readonly type: 'item.comment'; readonly commentId: string; readonly text: string }
    /** The whole new `text`. */
    | ({ readonly type: 'comment.edit'; readonly text: string } & CommentSeen)
    | ({ readonly type: 'comment.delete' } & CommentSeen)
    /** Labels to `add`, then to `remove`: see `limits`. */
    | { readonly type: 'item.label'; readonly add?: readonly string[]; readonly remove?: readonly string[] }
    | ({ readonly type: 'relation.add' } & LinkEnd)
    | ({ readonly type: 'relation.remove' } & LinkEnd)
    /** A part of it was created. */
    | { readonly type: 'child.created'; readonly childId: string }
    /** What the session hands over about its work. */
    | ({ readonly type: 'attempt.reported'; readonly sessionId: string } & Handoff)
    /**
     * Asks `target` to decide (null: whom the item's owner reports to) under an id that the caller makes. `request`
     * is Markdown of at most `limits.requestBytesMax`, `expiresAt` epoch milliseconds (null or absent: never); `gate`
     * is the gate of a run that is decided with it.
     */
    | {
        readonly type: 'approval.request';
        readonly requestId: string;
        readonly request: string;
        readonly target: string | null;
        readonly targetKind?: TargetKind;
        readonly expiresAt?: number | null;
        readonly gate?: Gate;
      }
    /** The decision of the pending request; a `note` says why. */
    | {
        readonly type: 'approval.decide';
        readonly decision: 'approve' | 'reject';
        readonly note?: string;
        /** The run that decides its gate, and which gate. */ readonly resolves?: string;
        readonly gateKey?: string;
      }
    /** The pending request goes to the root, for a `reason` in a sentence. */
    | { readonly type: 'approval.escalate'; readonly reason?: string }
    /** A session has begun to work on it, as `employee` (null: as no one). */
    | { readonly type: 'attempt.started'; readonly sessionId: string; readonly employee: string | null }
    /** That session has ended its work: its last words, US dollars, and paths below its folder. */
    | {
        readonly type: 'attempt.ended';
        readonly sessionId: string;
        readonly outcome: AttemptOutcome;
        readonly summary: string;
        readonly costUsd?: number | null;
        readonly changedFiles?: readonly string[];
      }
    /** The verifier's session of that round (from 0) is at work. */
    | { readonly type: 'review.opened'; readonly round: number; readonly sessionId: string }
    /** No session of the verifier could be opened in that round: `reason` says why, and a person decides. */
    | { readonly type: 'review.refused'; readonly round: number; readonly reason: string }
    /** The verifier's session has ended; its verdict is in its last words. */
    | { readonly type: 'review.ended'; readonly sessionId: string; readonly summary: string }
    // Of its own timers and regions; never sent from outside:
    | { readonly type: 'item.due' }
    | { readonly type: 'approval.expired' }
    /** `actor`, as `callerName` writes it, has said yes. */
    | { readonly type: 'approval.given'; readonly actor: string; readonly note?: string }
    /** `actor`, as `callerName` writes it, has said no. */
    | { readonly type: 'approval.refused'; readonly actor: string; readonly note?: string }
    | { readonly type: 'item.archived' }
  );

/** A comment's row as the caller that changes it has just read it. `author` and `createdAt` never change. */
export type CommentSeen = {
  readonly n: number;
  readonly commentId: string;
  readonly author: string;
  readonly createdAt: string;
  readonly edition: number;
};

/**
 * One end of a link. `far`: this is the end that was linked to; who may is judged at the other.
 */
export type LinkEnd = { readonly relation: LinkRelation; readonly other: string; readonly far?: boolean };

/** What an attempt hands over about its work. */
export type Handoff = {
  readonly summary?: string;
  readonly changedFiles?: readonly string[];
  readonly verification?: string;
  readonly retryNotes?: string;
};

export type WorkItemEventOf<Type extends WorkItemEvent['type']> = Extract<WorkItemEvent, { type: Type }>;

/** How large a work item may be, so that its whole snapshot stays under 64 KiB. */
export const limits = {
  titleCharsMax: 200,
  /** As JSON in UTF-8, so that the whole snapshot stays under 64 KiB. */
  bodyBytesMax: 32 * 1024,
  acceptanceBytesMax: 8 * 1024,
  requestBytesMax: 6 * 1024,
  noteCharsMax: 4_000,
  commentBytesMax: 32 * 1024,
  attemptsMax: 40,
  wordCharsMax: 200,
  depthMax: 3,
  labelsMax: 20,
  labelCharsMax: 60,
  linksMax: 50,
  changedFilesMax: 500,
  handoffBytesMax: 32 * 1024,
} as const;

/** How two items are linked: `blocks` and `duplicates` have two ends with a word each, `relates` is the same from both. */
export const linkRelations = ['blocks', 'blocked_by', 'relates', 'duplicates', 'duplicated_by'] as const;
export type LinkRelation = (typeof linkRelations)[number];
export type Link = { readonly relation: LinkRelation; readonly id: string };

/** What the other end of a link is called. */
export const inverse: Readonly<Record<LinkRelation, LinkRelation>> = {
  blocks: 'blocked_by',
  blocked_by: 'blocks',
  relates: 'relates',
  duplicates: 'duplicated_by',
  duplicated_by: 'duplicates',
};

export function maxRounds(context: Pick<WorkItemContext, 'verifyPolicy'>): number {
  return context.verifyPolicy?.maxRounds ?? (context.verifyPolicy?.mode === 'thorough' ? 3 : 2);
}

/**
 * Work that is trusted is done when it succeeds: by policy, else by source (schedules and workflows review
 * their own).
 */
export const trusted = (context: WorkItemContext): boolean =>
  (context.verifyPolicy?.mode ??
    (context.source === 'cron' || context.source === 'workflow' ? 'trust' : 'verify')) === 'trust';

/** Shared by all whom no session made. */
const noSession = Object.freeze({ sessionId: null, employee: null });

export function firstContext(input: WorkItemInput): WorkItemContext {
  const by = input.by;
  const named = /^session:(.+)$/.exec(input.createdBy)?.[1] ?? null;
  return {
    id: input.id,
    title: excerpt(input.title.trim(), limits.titleCharsMax),
    body: input.body,
    acceptance: input.acceptance,
    department:
      // As assigning does
      input.department ?? (input.assignee === null ? null : (input.facts?.named?.department ?? null)),
    assignee: input.assignee,
    priority: input.priority ?? 2,
    rank: null,
    budgetUsd: null,
    version: 1,
    source: input.source,
    sourceRef: input.sourceRef,
    verifyPolicy: input.verifyPolicy,
    rounds: 0,
    parentId: input.parentId ?? null,
    createdBy: input.createdBy ?? (by ? callerName(by) : 'operator'),
    creator:
      by?.type === 'session'
        ? { sessionId: by.id, employee: by.employee }
        : named === null
          ? noSession
          : { sessionId: named, employee: null },
    createdAt: input.at,
    updatedAt: input.at,
    closedAt: null,
    archived: false,
    declared: false,
    statusAt: input.at,
    attempts: [],
    firstAttemptEmployee: null,
    approval: null,
    events: 1, // that it was created
    approvals: 0,
    comments: 0,
    ...(input.rootId ? { rootId: input.rootId, depth: input.depth ?? 1 } : {}),
    ...(input.dueAt != null ? { dueAt: input.dueAt } : {}),
    ...(input.labels?.length ? { labels: [...new Set(input.labels)] } : {}),
  };
}
