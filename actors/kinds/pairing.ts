import { isoTime } from '../../machines/iso-time.js';
import { admitPairing, pairingMachine, pairingPolicy, type PairingInput, type PairingStatus } from '../../machines/pairing/machine.js';
import { checkShape } from '../../machines/shape.js';
import type { KeyedHand, Kind } from '../contracts.js';

/** Pairing challenges as a kind. The hands get a ProofInput: `proof` looks at the file and removes it, `clearing` only removes it. */
export function pairingKind(hands: { readonly proof: KeyedHand; readonly clearing: KeyedHand }): Kind<typeof pairingMachine> {
  return {
    kind: 'pairing',
    version: 1,
    forgetAfterMs: 3_600_000,
    machine: pairingMachine,
    hands: { proof: hands.proof, clearing: hands.clearing },
    policy: ({ value, context }, event) => pairingPolicy(value as PairingStatus, context, event),
    admit: (input) => admitPairing(input as unknown as PairingInput), // the kernel hands inputs on as JSON; the command has made this one
    view: ({ value, context }) => ({ id: context.id, status: value, openedAt: isoTime(context.openedAt), expiresAt: isoTime(context.expiresAt) }),
    check: checkShape({ id: 'string', nonceHash: 'string', openedAt: 'number', expiresAt: 'number' }),
  };
}
