import { isoTime, isoTimeOrNull } from '../iso-time.js';
import { sortable, sortableText } from '../sortable.js';
import type { ApprovalState } from './authority.js';
import type { WorkItemContext } from './context.js';
import type { Standpoint } from './policy.js';

/** The work item record of the API (26 members, all always there, and those of sub-tasks, labels, links and attempts). Times are ISO-8601. */
export type WorkItemView = ReturnType<typeof workItemView>;

export function workItemView(where: Standpoint, context: WorkItemContext) {
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
    attempts: context.attempts.map(({ sessionId, employee, live }) => ({ sessionId, employee, live })),
  };
}

/**
 * The lists an item appears in. Order: by hand first (`rank`, without one last), then the last changed first.
 * @example {index: 'status', key: 'blocked/1c08…'}
 */
export function workItemIndex(where: Standpoint, context: WorkItemContext): readonly { readonly index: string; readonly key: string }[] {
  const order = `${context.rank === null ? '1' : `0${sortable(context.rank)}`}${sortable(context.updatedAt, { descending: true })}`;
  return [
    { index: 'all', key: order },
    { index: 'status', key: `${where.work}/${order}` },
    { index: 'source', key: `${sortableText(context.source)}/${order}` },
    ...(context.assignee === null ? [] : [{ index: 'assignee', key: `${sortableText(context.assignee)}/${order}` }]),
    ...(context.parentId === null ? [] : [{ index: 'parent', key: `${sortableText(context.parentId)}/${sortable(context.createdAt)}` }]),
    ...(context.labels ?? []).map((word) => ({ index: 'label', key: `${sortableText(word)}/${order}` })),
    ...(context.department === null ? [] : [{ index: 'department', key: `${sortableText(context.department)}/${order}` }]),
  ];
}

const approvalWord = (state: ApprovalState): 'pending' | 'approved' | 'rejected' | null => (state === 'none' ? null : state);
