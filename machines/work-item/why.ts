import type { Caller } from '../caller.js';
import type { Json } from '../outputs.js';
import type { WorkItemContext, WorkItemFacts } from './context.js';
import { ownerOf } from './authority.js';
import { noted, statuses, type WorkItemState } from './edges.js';

/**
 * What "why" asks of a work item: every event that a caller might send now, whole, so that the policy judges
 * the real thing; and who holds the key where the item waits for a decision.
 */

export interface Candidate {
  readonly event: { readonly type: string } & Readonly<Record<string, Json | undefined>>;
  readonly to?: string;
  /** What a caller still fills in; the event holds stand-ins that fit. */
  readonly needs?: readonly string[];
}

export function candidates(
  where: WorkItemState,
  context: WorkItemContext,
  asked: { readonly by: Caller; readonly facts?: WorkItemFacts },
): readonly Candidate[] {
  const text = '(text)';
  const assignee =
    (asked.by.type === 'session' ? asked.by.employee : null) ??
    context.assignee ??
    asked.facts?.root ??
    '(name)';
  return [
    ...statuses
      .filter((status) => status !== where.work && status !== 'cancelled')
      .map((status): Candidate => ({
        event: { type: 'item.move', status, ...(noted.includes(status) ? { note: text } : {}) },
        to: status,
        ...(noted.includes(status) ? { needs: ['note'] } : {}),
      })),
    { event: { type: 'item.archive' }, to: 'cancelled' },
    { event: { type: 'item.assign', assignee, department: null }, needs: ['assignee'] },
    {
      event: { type: 'item.edit', patch: { priority: context.priority }, expectedVersion: context.version },
      needs: ['patch'],
    },
    { event: { type: 'item.comment', commentId: '-', text }, needs: ['text'] },
    { event: { type: 'item.label', add: [], remove: [] }, needs: ['add', 'remove'] },
    { event: { type: 'relation.add', relation: 'relates', other: '-' }, needs: ['relation', 'other'] },
    {
      event: { type: 'approval.request', requestId: '-', request: text, target: null },
      to: 'pending',
      needs: ['request'],
    },
    { event: { type: 'approval.decide', decision: 'approve' }, to: 'approved' },
    { event: { type: 'approval.decide', decision: 'reject' }, to: 'rejected' },
    { event: { type: 'approval.escalate' } },
  ];
}

/**
 * Whose word the item waits for. `keyHolders` may decide now: employees by name, and `operator` for people.
 */
export function awaits(where: WorkItemState, context: WorkItemContext, facts: WorkItemFacts): Json {
  const owner = ownerOf(context);
  const approval = where.approval === 'pending' ? context.approval : null;
  return {
    owner,
    managers: facts.managers,
    approval: approval && {
      requestId: approval.requestId,
      request: approval.request,
      target: approval.target,
      targetKind: approval.targetKind,
      escalated: approval.escalatedAt !== null,
      keyHolders: keyHolders(approval, facts).filter((name) => name !== owner),
      gate: approval.gate ?? null,
    },
    person: where.work === 'escalated' ? 'The item is escalated: a person moves it.' : null,
  };
}

function keyHolders(
  approval: NonNullable<WorkItemContext['approval']>,
  facts: WorkItemFacts,
): readonly string[] {
  const root = facts.root === null ? [] : [facts.root];
  const target = approval.target === null ? [] : [approval.target];
  if (approval.escalatedAt !== null)
    return [...new Set(['operator', ...root, ...target, ...facts.executives])];
  const routedToRoot =
    approval.targetKind !== 'employee' || approval.target === null || approval.target === facts.root;
  return routedToRoot ? ['operator', ...root] : [...new Set([...target, ...root])];
}
