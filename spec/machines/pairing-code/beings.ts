import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import {
  pairingCodeMachine,
  pairingCodePolicy,
  type PairingCodeEvent,
  type PairingCodeStatus,
} from '../../../machines/pairing-code/machine.js';
import { Life } from '../step.js';

/** Codes for specs. */
export const born = (ttlMs = 300_000) =>
  new Life(
    pairingCodeMachine,
    { id: 'h1', deviceKind: 'remote', issuedTo: 'challenge', ttlMs },
    (snapshot: SnapshotFrom<typeof pairingCodeMachine>, event: PairingCodeEvent) =>
      pairingCodePolicy(snapshot.value as PairingCodeStatus, snapshot.context, event, authorityOf(event)),
  );

export const redeem = {
  type: 'code.redeem',
  device: { id: 'd_1', name: 'Linux browser', tokenHash: 'b'.repeat(64), lastIp: null, userAgent: null },
};
