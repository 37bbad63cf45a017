import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import {
  pairingCodeMachine,
  pairingCodeNotInState,
  pairingCodePolicy,
  type PairingCodeEvent,
} from '../../../machines/pairing-code/machine.js';
import { Life } from '../step.js';

/** Codes for specs. */
export const fresh = (ttlMs = 300_000) =>
  new Life(
    pairingCodeMachine,
    { id: 'h1', deviceKind: 'remote', issuedTo: 'challenge', ttlMs },
    (_: SnapshotFrom<typeof pairingCodeMachine>, event: PairingCodeEvent) =>
      pairingCodePolicy(event, authorityOf(event)),
    undefined,
    pairingCodeNotInState,
  );

export const redeem = {
  type: 'code.redeem',
  device: { id: 'd_1', name: 'Linux browser', tokenHash: 'b'.repeat(64), lastIp: null, userAgent: null },
};
