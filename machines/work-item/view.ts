import type { Json } from '../outputs.js';
import { isoTime, isoTimeOrNull, sortable, sortableText } from '../sortable.js';
import type { WorkItemContext } from './context.js';
import type { ApprovalState, WorkItemState } from './edges.js';
import { reviewIndex } from './review.js';
import { excerpt } from '../text.js';
import { titleCharsMax, type Waiting } from '../waiting.js';

/**
 * The work item record of the API (26 members, all always there, and those of sub-tasks, labels, links and
 * attempts). Times are ISO-8601.
 */
export type WorkItemView = ReturnType<typeof workItemView>;

/**
 * A work item as the API shows it. Never throws.
 * @example
 *   const view = ({ value, context }: SnapshotFrom<typeof workItemMachine>) => workItemView(value, context);
 */
export function workItemView(where: WorkItemState, context: WorkItemContext) {
  const approval = context.approval;
  return {
    id: context.id,
    title: context.title,
    body: context.body,
    status: where.work,
    department: context.department,
    assignee: context.assignee,
    priority: context.priority,
    rank: context.rank,
    version: context.version,
    source: context.source,
    sourceRef: context.sourceRef,
    acceptance: context.acceptance,
    verifyPolicy: context.verifyPolicy,
    rounds: context.rounds,
    budgetUsd: context.budgetUsd,
    approvalState: approvalWord(where.approval),
    approvalRequest: approval?.request ?? null,
    approvalRef: approval?.gate ? `workflow-run:${approval.gate.runId}/${approval.gate.gateKey}` : null,
    approvalTarget: approval?.target ?? null,
    approvalTargetKind: approval?.targetKind ?? null,
    approvalEscalatedAt: isoTimeOrNull(approval?.escalatedAt ?? null),
    approvalDecidedBy: approval?.decidedBy ?? null,
    approvalDecidedAt: isoTimeOrNull(approval?.decidedAt ?? null),
    createdAt: isoTime(context.createdAt),
    updatedAt: isoTime(context.updatedAt),
    closedAt: isoTimeOrNull(context.closedAt),
    createdBy: context.createdBy,
    parentId: context.parentId,
    rootId: context.rootId ?? null,
    depth: context.depth ?? 0,
    dueAt: isoTimeOrNull(context.dueAt ?? null),
    labels: context.labels ?? [],
    links: context.links ?? [],
    children: context.children ?? 0,
    commentEdition: context.commentEdition ?? 0,
    approvalExpiresAt: isoTimeOrNull(approval?.expiresAt ?? null),
    sessionRef: context.attempts.at(-1)?.sessionId ?? null,
    review: context.review ?? null,
    ...workSoFar(context),
    attempts: context.attempts.map(({ sessionId, employee, live }) => ({ sessionId, employee, live })),
  };
}

/**
 * The lists an item appears in. Order: manually ranked first (`rank`, without one last), then the last
 * changed first; the same in every list, so that a place in one names the place in all. `group` and
 * `assignee-group` serve every filter by field: each range of them is one status, source, department (and
 * assignee), so whatever is asked is a merge of few ranges. A list for each field would be two more rows to
 * write at every change. Never throws.
 * @example
 *   const index = ({ value, context }: SnapshotFrom<typeof workItemMachine>) => workItemIndex(value, context);
 */
export function workItemIndex(
  where: WorkItemState,
  context: WorkItemContext,
): readonly { readonly index: string; readonly key: string; readonly row?: Json }[] {
  const order = workItemOrder(context.rank, context.updatedAt);
  return [
    { index: 'all', key: order, row: workItemRow(where, context) },
    { index: 'group', key: `${groupOf(where, context)}/${order}` },
    ...(context.assignee === null
      ? []
      : [
          {
            index: 'assignee-group',
            key: `${sortableText(context.assignee)}/${groupOf(where, context)}/${order}`,
          },
        ]),
    ...(context.creator.sessionId === null
      ? []
      : [{ index: 'creator', key: `${sortableText(context.creator.sessionId)}/${order}` }]),
    ...context.attempts.map(({ sessionId }) => ({
      index: 'attempt',
      key: `${sortableText(sessionId)}/${order}`,
    })),
    ...(where.approval === 'pending' ? [{ index: 'pending', key: order }] : []),
    ...(context.parentId === null
      ? []
      : [{ index: 'parent', key: `${sortableText(context.parentId)}/${sortable(context.createdAt)}` }]),
    ...(context.labels ?? []).map((word) => ({ index: 'label', key: `${sortableText(word)}/${order}` })),
    ...(context.verifyPolicy === null ? [] : reviewIndex(where.work, context)),
  ];
}

/** Manually ranked first, then the last changed first. */
export const workItemOrder = (rank: number | null, updatedAt: number): string =>
  `${rank === null ? '1' : `0${sortable(rank)}`}${sortable(updatedAt, { descending: true })}`;

/** `<status>/<source>/<department>`, the last empty where there is none. */
const groupOf = (where: WorkItemState, context: WorkItemContext): string =>
  `${where.work}/${sortableText(context.source)}/` +
  `${context.department === null ? '' : sortableText(context.department)}`;

/** The name under which an item is counted: `<group>/<assignee>`. */
export const workItemCount = (where: WorkItemState, context: WorkItemContext): string =>
  `${groupOf(where, context)}/${context.assignee === null ? '' : sortableText(context.assignee)}`;

/** What lists show of an item. Members that are null are left out; showing a row fills them in. */
function workItemRow(where: WorkItemState, context: WorkItemContext): Json {
  const { approval } = context;
  const sessionRef = context.attempts.at(-1)?.sessionId;
  return {
    title: context.title,
    status: where.work,
    version: context.version,
    source: context.source,
    ...(context.assignee === null ? {} : { assignee: context.assignee }),
    ...(context.department === null ? {} : { department: context.department }),
    ...(context.sourceRef === null ? {} : { sourceRef: context.sourceRef }),
    ...(context.rank === null ? {} : { rank: context.rank }),
    ...(sessionRef === undefined ? {} : { sessionRef }),
    ...(approval === null
      ? {}
      : {
          approvalState: approvalWord(where.approval),
          approvalRequest: approval.request,
          approvalTarget: approval.target,
          approvalEscalatedAt: isoTimeOrNull(approval.escalatedAt),
          ...(approval.targetKind === 'employee' ? {} : { approvalTargetKind: approval.targetKind }),
          ...(approval.gate
            ? { approvalRef: `workflow-run:${approval.gate.runId}/${approval.gate.gateKey}` }
            : {}),
        }),
    ...(context.labels?.length ? { labels: context.labels } : {}),
    ...workSoFar(context),
    updatedAt: isoTime(context.updatedAt),
  };
}

/** How often it was tried and what that cost, and since when it stands where it does. */
const workSoFar = ({ runs, costUsd, statusAt }: WorkItemContext) => ({
  ...(runs === undefined ? {} : { attemptCount: runs }),
  ...(costUsd === undefined ? {} : { costUsd }),
  ...(statusAt === undefined ? {} : { statusSince: isoTime(statusAt) }),
});

const approvalWord = (state: ApprovalState): 'pending' | 'approved' | 'rejected' | null =>
  state === 'none' ? null : state;

/** A pending approval, and an item that was escalated to a person. */
export function workItemWaiting(where: WorkItemState, context: WorkItemContext): readonly Waiting[] {
  const { approval } = context;
  const waiting: Waiting[] = [];
  if (where.approval === 'pending' && approval !== null)
    waiting.push({
      id: 'approval',
      what: 'approval',
      title: excerpt(`${context.title}: ${approval.request}`, titleCharsMax),
      on:
        approval.escalatedAt !== null || approval.targetKind !== 'employee'
          ? 'operator'
          : (approval.target ?? 'operator'),
      since: approval.requestedAt,
      until: approval.expiresAt ?? null,
    });
  if (where.work === 'in_review' && context.review?.refused !== undefined)
    waiting.push({
      id: 'review',
      what: 'move',
      title: excerpt(`${context.title}: no review. ${context.review.refused}`, titleCharsMax),
      on: 'operator',
      since: context.updatedAt,
      until: null,
    });
  if (where.work === 'escalated' && !context.archived)
    waiting.push({
      id: 'move',
      what: 'move',
      title: excerpt(context.title, titleCharsMax),
      on: 'operator',
      since: context.updatedAt,
      until: null,
    });
  return waiting;
}
