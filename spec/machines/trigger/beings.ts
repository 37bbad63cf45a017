import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import {
  triggerMachine,
  triggerPolicy,
  type BindingFields,
  type TriggerEvent,
} from '../../../machines/trigger/machine.js';
import { Life } from '../step.js';

export const fields = (): BindingFields => ({
  event: 'repo.push',
  targetWorkflowId: 'deploy',
  filter: [],
  tokenHash: 'hash',
  tokenPreview: 'svcwe…last',
});

/** A webhook that deploys what was pushed. */
export const fresh = (): Life<typeof triggerMachine> =>
  new Life(
    triggerMachine,
    { id: 'push', ...fields() },
    (_snapshot: SnapshotFrom<typeof triggerMachine>, event: TriggerEvent) =>
      triggerPolicy(event, authorityOf(event)),
    Date.UTC(2026, 5, 1),
  );
