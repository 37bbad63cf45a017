import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import {
  pairingMachine,
  pairingNotInState,
  pairingPolicy,
  type PairingEvent,
} from '../../../machines/pairing/machine.js';
import { Life } from '../step.js';

/** Challenges for specs. */
export const fresh = () =>
  new Life(
    pairingMachine,
    { id: 'c1', nonceHash: 'a'.repeat(64) },
    (_: SnapshotFrom<typeof pairingMachine>, event: PairingEvent) => pairingPolicy(event, authorityOf(event)),
    undefined,
    pairingNotInState,
  );
