import type { CheckInput, FireInput } from '../../machines/poll/machine.js';
import { pollMachine } from '../../machines/poll/machine.js';
import type { Checked, Fired, PollContext } from '../../machines/poll/context.js';
import { pollNotInState, pollPolicy, type PollState } from '../../machines/poll/policy.js';
import { excerpt } from '../../machines/text.js';
import { titleCharsMax, type Waiting } from '../../machines/waiting.js';
import { isoTime, isoTimeOrNull, sortableText } from '../../machines/sortable.js';
import { belowPayload, type FilterRule } from '../../machines/graph/conditions.js';
import { checkShape } from '../../machines/shape.js';
import type { AtMostOnceEffect, AtLeastOnceEffect } from '../contracts.js';
import type { Json } from '../../machines/outputs.js';
import { defineKind } from '../define-kind.js';

export interface PollEffects {
  readonly check: AtMostOnceEffect<CheckInput, Checked>;
  readonly fire: AtLeastOnceEffect<FireInput, Fired>;
}

/** Bindings that poll for their event with a program, as a kind; the id is the binding's name. */
export function pollKind(effects: PollEffects) {
  return defineKind({
    kind: 'poll',
    version: 3,
    /** Its chart says when, and no longer who; states and context are the same. */
    migrate: {
      1: (old) => old,
      /** Paths of filters have roots. */
      2: (old) => ({ ...old, context: { ...old.context, filter: filterBefore(old.context['filter']) } }),
    },
    machine: pollMachine,
    effects: { check: effects.check, fire: effects.fire },
    policy: ({ context }, event, authority) => pollPolicy(context, event, authority),
    notInState: ({ value, context }, event) => pollNotInState(stateOf(value), context, event),
    view: ({ value, context }) => {
      const { approval, contract } = context;
      return {
        schemaVersion: 2,
        name: context.id,
        kind: 'poll',
        source: 'poll',
        event: context.event,
        targetWorkflowId: context.targetWorkflowId,
        filter: context.filter,
        activation: activations[stateOf(value)],
        command: contract.command,
        intervalSeconds: contract.intervalSeconds,
        activationContract: contract,
        activationContractHash: context.contractHash,
        approval: {
          state: approval.decision ?? 'pending',
          requestedAt: isoTime(approval.requestedAt),
          escalatedAt: isoTimeOrNull(approval.escalatedAt),
          escalationReason: approval.reason,
          decidedBy: approval.decidedBy,
          decidedAt: isoTimeOrNull(approval.decidedAt),
          note: approval.note,
        },
        checking: typeof value === 'object' && value.active === 'checking',
        checks: context.checks,
        fired: context.fired,
        failures: context.failures,
        lastCheckedAt: isoTimeOrNull(context.lastCheckedAt),
        lastFiredAt: isoTimeOrNull(context.lastFiredAt),
        lastOutcome: context.lastOutcome,
        lastReason: context.lastReason,
        lastRunId: context.lastRunId,
        bindingRevision: `${context.id}@${context.revision}`,
        createdBy: context.createdBy,
        createdAt: isoTime(context.createdAt),
        updatedAt: isoTime(context.updatedAt),
      };
    },
    index: ({ value, context }) =>
      value === 'deleted' ? [] : [{ index: 'all', key: sortableText(context.id) }],
    waitingFor: ({ value, context }) => pollWaiting(stateOf(value), context),
    indexVersion: 2,
    redacted: ['payload', 'note', 'reason'],
    keptInBundles: (
      'id event op targetWorkflowId createdBy outcome lastOutcome runId lastRunId decision ' +
      'decidedBy role cwdPolicy envPolicy contractHash ref fireRef'
    ).split(' '),
    validateContext: checkShape({
      id: 'string',
      event: 'string',
      targetWorkflowId: 'string',
      filter: 'array',
      contract: 'object',
      contractHash: 'string',
      approval: 'object',
      checks: 'number',
    }),
    supervision: { strategy: 'one_for_one', restart: 'transient' },
  });
}

const stateOf = (value: string | object): PollState =>
  typeof value === 'object' ? 'active' : (value as PollState);
const activations = {
  pending: 'pending_approval',
  active: 'active',
  disabled: 'disabled',
  deleted: 'disabled',
} as const;

// Of a snapshot of version 2
const filterBefore = (filter: unknown): Json => ((filter ?? []) as readonly FilterRule[]).map(belowPayload);

/** A program that runs only after a person approved exactly it. */
const pollWaiting = (
  state: PollState,
  { id, contract, contractHash, approval }: PollContext,
): readonly Waiting[] =>
  state !== 'pending' || approval.decision !== null
    ? []
    : [
        {
          id: contractHash, // anyone who decides names what was listed
          what: 'activation',
          title: excerpt(`${id}: ${contract.command.join(' ')}`, titleCharsMax),
          on: 'operator',
          since: approval.requestedAt,
          until: null,
        },
      ];
