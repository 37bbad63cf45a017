import type { SnapshotFrom } from 'xstate';
import { authorityOf } from '../../../machines/caller.js';
import {
  heldDecisionMachine,
  heldDecisionNotInState,
  heldDecisionPolicy,
  type HeldDecisionEvent,
} from '../../../machines/held-decision/machine.js';
import { Life } from '../step.js';

/** Held decisions for specs. */
export const made = {
  id: 'd1',
  kind: 'work-item',
  actorId: 'TRP-1',
  waitingId: 'a-1',
  what: 'approval',
  within: null,
  choice: 'approve',
  words: { note: 'Go on.', usd: null, always: false, rule: null },
  digest: 'of what was shown',
  holdMs: 5_000,
} as const;

export const fresh = () =>
  new Life(
    heldDecisionMachine,
    { ...made },
    (_: SnapshotFrom<typeof heldDecisionMachine>, event: HeldDecisionEvent) =>
      heldDecisionPolicy(event, authorityOf(event)),
    undefined,
    heldDecisionNotInState,
  );

export const withdraw = { type: 'decision.withdraw' } as const;
