import { callerName } from '../../machines/caller.js';
import {
  admitHeldDecision,
  heldDecisionMachine,
  heldDecisionNotInState,
  heldDecisionPolicy,
  type HeldDecisionStatus,
} from '../../machines/held-decision/machine.js';
import { isoTime } from '../../machines/sortable.js';
import { checkShape } from '../../machines/shape.js';
import { defineKind } from '../define-kind.js';
import type { EffectsOf } from '../inference.js';

/** Held decisions as a kind. The effect `decide` posts the decision to its route, as the person who made it. */
export function heldDecisionKind(effects: EffectsOf<typeof heldDecisionMachine>) {
  return defineKind({
    kind: 'held-decision',
    version: 1,
    machine: heldDecisionMachine,
    effects: { decide: effects.decide },
    policy: (_snapshot, event, authority) => heldDecisionPolicy(event, authority),
    notInState: heldDecisionNotInState,
    validateInput: (input) => admitHeldDecision(input),
    forgetAfterMs: 24 * 3_600_000,
    view: ({ value, context: { id, kind, actorId, waitingId, choice, by, decidedAt, until, reason } }) => ({
      id,
      status: value as HeldDecisionStatus,
      kind,
      actorId,
      waitingId,
      decision: choice,
      decidedBy: callerName(by),
      decidedAt: isoTime(decidedAt),
      until: isoTime(until),
      reason,
    }),
    index: ({ value, context: { id, kind, actorId } }) => [
      ...(['held', 'deciding', 'pausing'].includes(value) ? [{ index: 'open', key: id }] : []),
      { index: 'about', key: `${kind}/${actorId}/${id}` },
    ],
    redacted: ['words'],
    keptInBundles: 'id kind actorId waitingId what choice type decision decisionId digest'.split(' '),
    validateContext: checkShape({
      id: 'string',
      kind: 'string',
      actorId: 'string',
      waitingId: 'string',
      what: 'string',
      within: 'string?',
      choice: 'string',
      words: 'object',
      digest: 'string',
      by: 'object',
      holdMs: 'number',
      decidedAt: 'number',
      until: 'number',
      tries: 'number',
      reason: 'string?',
    }),
  });
}
