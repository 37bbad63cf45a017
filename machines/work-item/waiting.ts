import { excerpt } from '../excerpt.js';
import { titleCharsMax, type Waiting } from '../waiting.js';
import type { WorkItemContext } from './context.js';
import type { WorkItemState } from './state.js';

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
