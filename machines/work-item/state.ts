import type { WorkStatus } from './edges.js';

/** Where a work item stands: one word for each region of its chart. */
export interface WorkItemState {
  readonly work: WorkStatus;
  readonly approval: ApprovalState;
}

export type ApprovalState = 'none' | 'pending' | 'approved' | 'rejected';
