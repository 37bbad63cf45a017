import { statuses as allStatuses } from '../../../machines/work-item/edges.js';
import type { components } from '../../client/index.js';

export type WorkItemRow = components['schemas']['WorkItemRow'];
export type Status = WorkItemRow['status'];

/** In the order of the board. Cancelled ones are archived. */
export const statuses: readonly Status[] = allStatuses.filter((status) => status !== 'cancelled');

/** `in_review` is `in review`. */
export const words = (status: string): string => status.replaceAll('_', ' ');

export const toneOf = (status: string): 'busy' | 'wait' | 'bad' | 'done' | 'rest' =>
  status === 'executing'
    ? 'busy'
    : status === 'in_review'
      ? 'wait'
      : status === 'blocked' || status === 'escalated'
        ? 'bad'
        : status === 'done'
          ? 'done'
          : 'rest';
