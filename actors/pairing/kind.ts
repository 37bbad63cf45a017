import { isoTime } from '../../machines/sortable.js';
import {
  admitPairing,
  pairingMachine,
  pairingNotInState,
  pairingPolicy,
} from '../../machines/pairing/machine.js';
import { checkShape } from '../../machines/shape.js';
import { defineKind } from '../define-kind.js';
import type { EffectsOf } from '../inference.js';

/**
 * Pairing challenges as a kind. The effects get a ProofInput: `proof` reads the file and removes it,
 * `clearing` only removes it.
 */
export function pairingKind(effects: EffectsOf<typeof pairingMachine>) {
  return defineKind({
    kind: 'pairing',
    version: 2,
    /** Its chart says when, and no longer who; states and context are the same. */
    migrate: { 1: (old) => old },
    forgetAfterMs: 3_600_000,
    machine: pairingMachine,
    effects: { proof: effects.proof, clearing: effects.clearing },
    policy: (_snapshot, event, authority) => pairingPolicy(event, authority),
    notInState: pairingNotInState,
    validateInput: (input) => admitPairing(input),
    view: ({ value, context }) => ({
      id: context.id,
      status: value,
      openedAt: isoTime(context.openedAt),
      expiresAt: isoTime(context.expiresAt),
    }),
    keptInBundles: ['id'],
    validateContext: checkShape({
      id: 'string',
      nonceHash: 'string',
      openedAt: 'number',
      expiresAt: 'number',
    }),
  });
}
