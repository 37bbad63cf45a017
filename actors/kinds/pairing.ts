import { isoTime } from '../../machines/iso-time.js';
import {
  admitPairing,
  pairingMachine,
  pairingPolicy,
  type PairingInput,
  type PairingStatus,
} from '../../machines/pairing/machine.js';
import { checkShape } from '../../machines/shape.js';
import type { AtLeastOnceEffect, Kind } from '../contracts.js';

/**
 * Pairing challenges as a kind. The hands get a ProofInput: `proof` looks at the file and removes it,
 * `clearing` only removes it.
 */
export function pairingKind(effects: {
  readonly proof: AtLeastOnceEffect;
  readonly clearing: AtLeastOnceEffect;
}): Kind<typeof pairingMachine> {
  return {
    kind: 'pairing',
    version: 1,
    forgetAfterMs: 3_600_000,
    machine: pairingMachine,
    effects: { proof: effects.proof, clearing: effects.clearing },
    policy: ({ value, context }, event, authority) =>
      pairingPolicy(value as PairingStatus, context, event, authority),
    // The kernel hands inputs on as JSON; the command has made this one
    validateInput: (input) => admitPairing(input as unknown as PairingInput),
    view: ({ value, context }) => ({
      id: context.id,
      status: value,
      openedAt: isoTime(context.openedAt),
      expiresAt: isoTime(context.expiresAt),
    }),
    validateContext: checkShape({
      id: 'string',
      nonceHash: 'string',
      openedAt: 'number',
      expiresAt: 'number',
    }),
  };
}
