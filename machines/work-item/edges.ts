/**
 * How a work item may be, in the words of the API. With `edges` the one table of where it may go; the policy, the
 * machine, the documentation and the specs all read it.
 * @example const open = workItemStatuses.filter((status) => status !== 'done');
 */
export const statuses = [
  'backlog',
  'assigned',
  'executing',
  'in_review',
  'blocked',
  'escalated',
  'done',
  'cancelled',
] as const;
/** How a work item is, in the words of the API. */
export type WorkStatus = (typeof statuses)[number];

/**
 * From which status to which others a work item may move.
 * @example workItemEdges.in_review.includes('done') // true
 */
export const edges: Readonly<Record<WorkStatus, readonly WorkStatus[]>> = {
  backlog: ['assigned', 'executing', 'in_review', 'blocked', 'escalated', 'done', 'cancelled'],
  assigned: ['backlog', 'executing', 'in_review', 'blocked', 'escalated', 'done', 'cancelled'],
  executing: ['in_review', 'blocked', 'escalated', 'done', 'cancelled'],
  in_review: ['executing', 'done', 'blocked', 'escalated', 'cancelled'],
  blocked: ['backlog', 'assigned', 'executing', 'in_review', 'escalated', 'done', 'cancelled'],
  escalated: ['backlog', 'assigned', 'executing', 'in_review', 'blocked', 'done', 'cancelled'],
  done: ['backlog'],
  cancelled: ['backlog'],
};

/** Only a person leaves these. */
export const sticky: readonly WorkStatus[] = ['escalated', 'done', 'cancelled'];
/** These set `closedAt`. */
export const closed: readonly WorkStatus[] = ['done', 'cancelled'];
/** What an agent may ask for. */
export const agentTargets: readonly WorkStatus[] = ['executing', 'in_review', 'blocked', 'escalated', 'done'];
/** Reached only with a note that says why. */
export const noted: readonly WorkStatus[] = ['blocked', 'escalated'];

export const isStatus = (word: unknown): word is WorkStatus => statuses.includes(word as WorkStatus);

/** Where a work item stands: one word for each region of its chart. */
export interface WorkItemState {
  readonly work: WorkStatus;
  readonly approval: ApprovalState;
}

export type ApprovalState = 'none' | 'pending' | 'approved' | 'rejected';
