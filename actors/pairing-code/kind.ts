import { isoTime } from '../../machines/sortable.js';
import {
  admitPairingCode,
  pairingCodeMachine,
  pairingCodeNotInState,
  pairingCodePolicy,
  type NewDevice,
} from '../../machines/pairing-code/machine.js';
import { checkShape } from '../../machines/shape.js';
import type { AtLeastOnceEffect } from '../contracts.js';
import { defineKind } from '../define-kind.js';
import type { EffectsOf } from '../inference.js';

/**
 * Pairing codes as a kind. The effect `device` gets a NewDevice and writes it where devices are kept; the same
 * one twice is one.
 */
export function pairingCodeKind(effects: EffectsOf<typeof pairingCodeMachine>) {
  return defineKind({
    kind: 'pairing-code',
    version: 2,
    /** Its chart says when, and no longer who; states and context are the same. */
    migrate: { 1: (old) => old },
    forgetAfterMs: 24 * 3_600_000,
    machine: pairingCodeMachine,
    effects: { device: effects.device },
    policy: (_snapshot, event, authority) => pairingCodePolicy(event, authority),
    notInState: pairingCodeNotInState,
    validateInput: (input) => admitPairingCode(input),
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
    keptInBundles: ['id', 'deviceKind', 'kind', 'issuedTo', 'code'],
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
  });
}

/**
 * The effect that writes a paired browser down. `keep` must be idempotent in the device's id and resolve only
 * when it is on disk.
 */
export function deviceEffect({
  keep,
}: {
  readonly keep: (device: NewDevice) => Promise<void>;
}): AtLeastOnceEffect<NewDevice, null> {
  return {
    guarantee: 'at-least-once',
    async run(device) {
      await keep(device);
      return null;
    },
  };
}
