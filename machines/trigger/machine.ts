import { assertEvent, assign, emit, setup } from 'xstate';
import { callerName, isTrusted, type Authority } from '../caller.js';
import type { FilterRule } from '../graph/conditions.js';
import { publish, type Stamp, type Output } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';

/**
 * A binding of an event from outside to a workflow.
 *
 * **What lives.** Which event starts which workflow, the filter on its payload, and the hash of the secret
 * with which it is called, or the salt of the one with which its events are signed; the secret itself was
 * shown once and is nowhere. What its events came to, counted.
 *
 * **What can happen.** An event arrives and starts a run. A person, or an agent that may write the workflow,
 * removes the binding; its name may then be used again, with a new secret.
 *
 * **What can never happen.** A secret in here. An event that starts two runs under one `fireRef`: the run is
 * started under that name.
 */
export type BindingFields = {
  readonly event: string;
  readonly targetWorkflowId: string;
  readonly filter: readonly FilterRule[];
  /** SHA-256, base64url. Empty: no secret opens it; its events are signed. */
  readonly tokenHash: string;
  /** What tells people which secret it is: its beginning and end. */
  readonly tokenPreview: string;
  /**
   * Its events are signed with a secret that is made of this and of the gateway's own. Absent or null: they
   * come with the secret.
   */
  readonly signingSalt?: string | null;
};

export interface TriggerContext extends BindingFields {
  readonly id: string;
  readonly revision: number;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly fired: number;
  readonly lastFiredAt: number | null;
  readonly lastOutcome: string | null;
}

export interface TriggerInput extends BindingFields {
  readonly id: string;
  readonly at: number;
  readonly by: Stamp['by'];
}

export type TriggerEvent = Stamp &
  (
    | { readonly type: 'binding.fired'; readonly outcome: string }
    | { readonly type: 'binding.delete' }
    | { readonly type: 'binding.revive'; readonly binding: BindingFields }
  );

/**
 * Whether an agent may write the workflow is judged by the command, which knows the definition and the
 * roster.
 */
export function triggerPolicy(event: TriggerEvent, { by, onBehalfOf }: Authority): Refusal | undefined {
  switch (event.type) {
    case 'binding.fired':
      return by.type === 'system'
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: event.type }, 'Only the gateway may report results to a binding.');
    case 'binding.delete':
    case 'binding.revive':
      return isTrusted(onBehalfOf) || onBehalfOf.type === 'session' ? undefined : refuse('FORBIDDEN');
    default:
      return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

export const triggerMachine = setup({
  types: {} as { context: TriggerContext; events: TriggerEvent; input: TriggerInput; emitted: Output },
  actions: {
    publish: emit(({ context }, { action }: { action: string }) =>
      publish('company:changed', {
        entity: 'workflow-trigger',
        action,
        id: context.id,
        workflowId: context.targetWorkflowId,
      }),
    ),
    recordFire: assign(({ context, event }) => {
      assertEvent(event, 'binding.fired');
      return { fired: context.fired + 1, lastFiredAt: event.at, lastOutcome: event.outcome };
    }),
    rewrite: assign(({ context, event }) => {
      assertEvent(event, 'binding.revive');
      return {
        ...event.binding,
        signingSalt: event.binding.signingSalt ?? null,
        revision: context.revision + 1,
        createdBy: callerName(event.by),
        createdAt: event.at,
        updatedAt: event.at,
        fired: 0,
        lastFiredAt: null,
        lastOutcome: null,
      };
    }),
    /** An empty hash is the hash of nothing: no secret opens it any more. */
    forgetSecret: assign(({ event }) => ({
      tokenHash: '',
      tokenPreview: '',
      signingSalt: null,
      updatedAt: event.at,
    })),
  },
}).createMachine({
  id: 'trigger',
  context: ({
    input: { id, at, by, event, targetWorkflowId, filter, tokenHash, tokenPreview, signingSalt = null },
  }) => ({
    id,
    event,
    targetWorkflowId,
    filter,
    tokenHash,
    tokenPreview,
    signingSalt,
    revision: 1,
    createdBy: callerName(by),
    createdAt: at,
    updatedAt: at,
    fired: 0,
    lastFiredAt: null,
    lastOutcome: null,
  }),
  initial: 'active',
  states: {
    active: {
      entry: { type: 'publish', params: { action: 'trigger-created' } },
      on: {
        'binding.fired': { actions: 'recordFire' },
        'binding.delete': { target: 'deleted', actions: 'forgetSecret' },
      },
    },
    deleted: {
      entry: { type: 'publish', params: { action: 'trigger-deleted' } },
      on: { 'binding.revive': { target: 'active', actions: 'rewrite' } },
    },
  },
});
