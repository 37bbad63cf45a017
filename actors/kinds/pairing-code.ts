import { isoTime } from '../../machines/iso-time.js';
import {
  admitPairingCode,
  pairingCodeMachine,
  pairingCodePolicy,
  type PairingCodeInput,
  type PairingCodeStatus,
} from '../../machines/pairing-code/machine.js';
import { checkShape } from '../../machines/shape.js';
import type { AtLeastOnceEffect, Kind } from '../contracts.js';

/**
 * Pairing codes as a kind. The hand `device` gets a NewDevice and writes it where devices are kept; the same
 * one twice is one.
 */
export function pairingCodeKind(effects: {
  readonly device: AtLeastOnceEffect;
}): Kind<typeof pairingCodeMachine> {
  return {
    kind: 'pairing-code',
    version: 1,
    forgetAfterMs: 24 * 3_600_000,
    machine: pairingCodeMachine,
    effects: { device: effects.device },
    policy: ({ value, context }, event, authority) =>
      pairingCodePolicy(value as PairingCodeStatus, context, event, authority),
    // The kernel hands inputs on as JSON; the command has made this one
    validateInput: (input) => admitPairingCode(input as unknown as PairingCodeInput),
    view: ({ value, context }) => ({
      id: context.id,
      status: value,
      deviceKind: context.deviceKind,
      issuedTo: context.issuedTo,
      openedAt: isoTime(context.openedAt),
      expiresAt: isoTime(context.expiresAt),
      deviceId: context.device?.id ?? null,
      reason: context.reason,
    }),
    validateContext: checkShape({
      id: 'string',
      deviceKind: 'string',
      issuedTo: 'string',
      ttlMs: 'number',
      openedAt: 'number',
      expiresAt: 'number',
      device: 'object?',
      reason: 'string?',
    }),
  };
}
