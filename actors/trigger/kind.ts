import { isoTime, isoTimeOrNull, sortableText } from '../../machines/sortable.js';
import { refuse } from '../../machines/refusals.js';
import { belowPayload, type FilterRule } from '../../machines/graph/conditions.js';
import { checkShape } from '../../machines/shape.js';
import { triggerMachine, triggerPolicy } from '../../machines/trigger/machine.js';
import type { Json } from '../../machines/outputs.js';
import { defineKind } from '../define-kind.js';

/** Bindings of events to workflows as a kind; the id is the binding's name. The view holds no hash. */
export function triggerKind() {
  return defineKind({
    kind: 'trigger',
    version: 3,
    /** Its chart says when, and no longer who; states and context are the same. */
    migrate: {
      1: (old) => old,
      /** Paths of filters have roots. */
      2: (old) => ({ ...old, context: { ...old.context, filter: filterBefore(old.context['filter']) } }),
    },
    machine: triggerMachine,
    policy: (_snapshot, event, authority) => triggerPolicy(event, authority),
    notInState: ({ value, context: { id } }) =>
      value === 'deleted' ? refuse('NOT_FOUND', { kind: 'workflow trigger', id }, 'Not found') : undefined,
    view: ({ value, context }) => ({
      schemaVersion: 2,
      name: context.id,
      kind: 'webhook',
      source: 'event-webhook',
      event: context.event,
      targetWorkflowId: context.targetWorkflowId,
      filter: context.filter,
      activation: value === 'active' ? 'active' : 'disabled',
      signature: context.signingSalt == null ? null : 'hmac-sha256',
      signingSalt: context.signingSalt ?? null,
      secretTokenPreview: context.tokenPreview,
      bindingRevision: `${context.id}@${context.revision}`,
      createdBy: context.createdBy,
      createdAt: isoTime(context.createdAt),
      updatedAt: isoTime(context.updatedAt),
      fired: context.fired,
      lastFiredAt: isoTimeOrNull(context.lastFiredAt),
      lastOutcome: context.lastOutcome,
    }),
    index: ({ value, context }) =>
      value === 'active'
        ? [
            { index: 'all', key: sortableText(context.id) },
            { index: 'event', key: sortableText(context.event) },
            ...(context.tokenHash === '' ? [] : [{ index: 'token', key: sortableText(context.tokenHash) }]),
          ]
        : [],
    keptInBundles: 'id event op path targetWorkflowId createdBy outcome lastOutcome'.split(' '),
    validateContext: checkShape({
      id: 'string',
      event: 'string',
      targetWorkflowId: 'string',
      filter: 'array',
      tokenHash: 'string',
      revision: 'number',
    }),
  });
}

// Of a snapshot of version 2
const filterBefore = (filter: unknown): Json => ((filter ?? []) as readonly FilterRule[]).map(belowPayload);
