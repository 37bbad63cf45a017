import { checkShape } from '../../machines/shape.js';
import type { WorkItemFacts } from '../../machines/work-item/context.js';
import { workItemMachine } from '../../machines/work-item/machine.js';
import { admitWorkItem, workItemPolicy } from '../../machines/work-item/policy.js';
import { workItemNotInState } from '../../machines/work-item/refusals.js';
import {
  workItemCount,
  workItemIndex,
  workItemView,
  workItemWaiting,
} from '../../machines/work-item/view.js';
import { awaits, candidates } from '../../machines/work-item/why.js';
import { defineKind } from '../define-kind.js';
import { workItemFacts } from './facts.js';

/**
 * Work items as a kind: `workItemKind({escalateAfterMs: 24 * 3600 * 1000})`. A pending approval escalates by
 * itself after that long.
 */
export function workItemKind(options: { readonly escalateAfterMs?: number } = {}) {
  const { escalateAfterMs } = options;
  if (escalateAfterMs !== undefined && !(escalateAfterMs > 0))
    throw new RangeError('escalateAfterMs must be positive');
  return defineKind({
    kind: 'work-item',
    version: 3,
    machine:
      escalateAfterMs === undefined
        ? workItemMachine
        : workItemMachine.provide({ delays: { escalation: escalateAfterMs } }),
    policy: ({ value, context }, event, authority) => workItemPolicy(value, context, event, authority),
    notInState: ({ value, context }, event) => workItemNotInState(value, context, event),
    validateInput: (input) => admitWorkItem(input),
    facts: (snapshot, event, world) => workItemFacts(snapshot?.context, event, world['roster']),
    view: (snapshot) => workItemView(snapshot.value, snapshot.context),
    index: (snapshot) => workItemIndex(snapshot.value, snapshot.context),
    waitingFor: (snapshot) => workItemWaiting(snapshot.value, snapshot.context),
    indexVersion: 5,
    totals: (snapshot) => [workItemCount(snapshot.value, snapshot.context)],
    moves: (snapshot, { by, facts }) =>
      candidates(snapshot.value, snapshot.context, {
        by,
        ...(facts === undefined ? {} : { facts: facts as WorkItemFacts }),
      }), // the kernel gives back what `facts` above made
    // The same
    awaits: (snapshot, facts) => awaits(snapshot.value, snapshot.context, facts as WorkItemFacts),
    operatorEvents: {
      'item.move': { status: 'string', note: 'string?' },
      'item.archive': { note: 'string?' },
      'approval.escalate': { reason: 'string?' },
    },
    redacted: ['body', 'acceptance', 'text', 'request', 'note', 'summary', 'verification', 'retryNotes'],
    keptInBundles: (
      'id status assignee employee department mode source createdBy sessionId parentId rootId ' +
      'relation other decision targetKind target requestId requestedBy decidedBy commentId ' +
      'childId author outcome withdrawn kind runId nodeId workflowId gateKey ' +
      'firstAttemptEmployee executives managers root named engine model'
    ).split(' '),
    validateContext: checkShape({
      id: 'string',
      title: 'string',
      body: 'string?',
      acceptance: 'string?',
      department: 'string?',
      assignee: 'string?',
      priority: 'number',
      rank: 'number?',
      version: 'number',
      source: 'string',
      sourceRef: 'string?',
      verifyPolicy: 'object?',
      rounds: 'number',
      createdBy: 'string',
      creator: 'object',
      createdAt: 'number',
      updatedAt: 'number',
      closedAt: 'number?',
      archived: 'boolean',
      declared: 'boolean',
      attempts: 'array',
      approval: 'object?',
      events: 'number',
      approvals: 'number',
      comments: 'number',
    }),
    /**
     * 2: its chart says when, and no longer who. 3: it hears that a review ended. States and context are the
     * same.
     */
    migrate: { 1: (old) => old, 2: (old) => old },
    supervision: { strategy: 'one_for_one', restart: 'transient' },
  });
}
