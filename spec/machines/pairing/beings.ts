import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import {
  pairingMachine,
  pairingPolicy,
  type PairingEvent,
  type PairingStatus,
} from '../../../machines/pairing/machine.js';
import { Life } from '../step.js';

/** Challenges for specs. */
export const born = () =>
  new Life(
    pairingMachine,
    { id: 'c1', nonceHash: 'a'.repeat(64) },
    (snapshot: SnapshotFrom<typeof pairingMachine>, event: PairingEvent) =>
      pairingPolicy(snapshot.value as PairingStatus, snapshot.context, event, authorityOf(event)),
  );
