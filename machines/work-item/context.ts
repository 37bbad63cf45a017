import { callerName, type Caller } from '../caller.js';
import { excerpt } from '../text.js';
import type { Stamp } from '../outputs.js';
import type { WorkStatus } from './edges.js';
import { limits } from './limits.js';
import type { Link, LinkRelation } from './links.js';

/**
 * The shapes of a work item: what is given at creation, what it remembers, what can be sent to it. All plain
 * JSON; times are epoch milliseconds.
 */

export type VerifyPolicy = {
  readonly mode: 'trust' | 'verify' | 'thorough';
  /** 1..20 */
  readonly maxRounds?: number;
  readonly verifier?: { readonly employee?: string; readonly engine?: string; readonly model?: string };
};

/** `input` of the machine; the kernel adds `id`, `at`, `by`, `facts`. */
export interface WorkItemInput {
  readonly id: string;
  readonly at: number;
  readonly by?: Caller;
  readonly onBehalfOf?: Caller;
  readonly facts?: WorkItemFacts;
  readonly title: string;
  readonly body: string | null;
  readonly acceptance: string | null;
  readonly assignee: string | null;
  readonly department: string | null;
  readonly priority?: number;
  readonly verifyPolicy: VerifyPolicy | null;
  readonly source: string;
  readonly sourceRef: string | null;
  /** A caller's name: `operator`, `session:<id>` … */
  readonly createdBy: string;
  readonly parentId?: string | null;
  /** With a parent: the item at the top of the tree, and how far below it this one hangs (1 to 3). */
  readonly rootId?: string | null;
  readonly depth?: number;
  readonly dueAt?: number | null;
  readonly labels?: readonly string[];
}

/**
 * What a decision must know of the organisation, judged at decision time by the kind's `facts`. Without a
 * roster everything is null or empty, and the operator is the (virtual) root. Callers are compared by their
 * employee.
 */
export type WorkItemFacts = {
  /** The root employee (COO); null: the operator is the root. */
  readonly root: string | null;
  /** Who stands above the item's owner, nearest first. To the nearest approvals are routed by default. */
  readonly managers: readonly string[];
  readonly executives: readonly string[];
  /**
   * About the employee whom the event names (assignee or target of an approval); null: no one, or there is no
   * roster.
   */
  readonly named: {
    readonly known: boolean;
    readonly department: string | null;
    readonly suggestion: string | null;
  } | null;
};

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
  /** Why there is none. */
  readonly refused?: string;
};

export type TargetKind = 'employee' | 'virtual' | 'none';

/** What a work item remembers; its ledger is rows. */
export interface WorkItemContext {
  readonly id: string;
  readonly title: string;
  readonly body: string | null;
  readonly acceptance: string | null;
  readonly department: string | null;
  readonly assignee: string | null;
  readonly priority: number;
  readonly rank: number | null;
  readonly budgetUsd: number | null;
  readonly version: number;
  readonly source: string;
  readonly sourceRef: string | null;
  readonly verifyPolicy: VerifyPolicy | null;
  readonly rounds: number;
  readonly parentId: string | null;
  readonly createdBy: string;
  readonly creator: { readonly sessionId: string | null; readonly employee: string | null };
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly closedAt: number | null;
  readonly archived: boolean;
  /** Declared blocked or in review by hand; attempts do not overwrite that. */
  readonly declared: boolean;
  /** The last sessions that worked on it, oldest first. */
  readonly attempts: readonly Attempt[];
  readonly firstAttemptEmployee: string | null;
  /** The latest request, whatever became of it; null when it was withdrawn or ran out. */
  readonly approval: Approval | null;
  /** Rows written so far. */
  readonly events: number;
  readonly approvals: number;
  readonly comments: number;
  // Absent until there is something to say, so that the many items without them stay small.
  readonly rootId?: string | null;
  readonly depth?: number;
  readonly dueAt?: number | null;
  readonly labels?: readonly string[];
  readonly links?: readonly Link[];
  /** What became of the last request where it was not decided. */
  readonly withdrawn?: 'expired' | 'cancelled' | null;
  /** Sub-tasks so far. */
  readonly children?: number;
  /** The last review by the verifier; null: a person took the item up again. */
  readonly review?: Review | null;
  /** Rows of `attempts` so far. */
  readonly runs?: number;
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
    | { readonly type: 'item.move'; readonly status: WorkStatus; readonly note?: string }
    | { readonly type: 'item.assign'; readonly assignee: string; readonly department: string | null }
    | { readonly type: 'item.archive'; readonly note?: string }
    | { readonly type: 'item.edit'; readonly patch: WorkItemPatch; readonly expectedVersion: number }
    | { readonly type: 'item.comment'; readonly commentId: string; readonly text: string }
    | ({ readonly type: 'comment.edit'; readonly text: string } & CommentSeen)
    | ({ readonly type: 'comment.delete' } & CommentSeen)
    | { readonly type: 'item.label'; readonly add?: readonly string[]; readonly remove?: readonly string[] }
    | ({ readonly type: 'relation.add' } & LinkEnd)
    | ({ readonly type: 'relation.remove' } & LinkEnd)
    | { readonly type: 'child.created'; readonly childId: string }
    | ({ readonly type: 'attempt.reported'; readonly sessionId: string } & Handoff)
    | {
        readonly type: 'approval.request';
        readonly requestId: string;
        readonly request: string;
        readonly target: string | null;
        readonly targetKind?: TargetKind;
        readonly expiresAt?: number | null;
        readonly gate?: Gate;
      }
    | {
        readonly type: 'approval.decide';
        readonly decision: 'approve' | 'reject';
        readonly note?: string;
        /** The run that decides its gate, and which gate. */ readonly resolves?: string;
        readonly gateKey?: string;
      }
    | { readonly type: 'approval.escalate'; readonly reason?: string }
    | { readonly type: 'attempt.started'; readonly sessionId: string; readonly employee: string | null }
    | {
        readonly type: 'attempt.ended';
        readonly sessionId: string;
        readonly outcome: AttemptOutcome;
        readonly summary: string;
        readonly costUsd?: number | null;
        readonly changedFiles?: readonly string[];
      }
    | { readonly type: 'review.opened'; readonly round: number; readonly sessionId: string }
    | { readonly type: 'review.refused'; readonly round: number; readonly reason: string }
    // Of its own timers and regions; never sent from outside:
    | { readonly type: 'item.due' }
    | { readonly type: 'approval.expired' }
    | { readonly type: 'approval.given'; readonly actor: string; readonly note?: string }
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

export { limits };

const noFacts: WorkItemFacts = { root: null, managers: [], executives: [], named: null };

export const factsOf = (event: { readonly facts?: WorkItemFacts }): WorkItemFacts => event.facts ?? noFacts;

/**
 * Whose it is: the assignee's, else the first attempt's employee's, else the creating session's employee's,
 * else no one's.
 */
export const ownerOf = (context: WorkItemContext): string | null =>
  context.assignee ?? context.firstAttemptEmployee ?? context.creator.employee;

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
