import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import type { PollEvent, PollFields } from '../../../machines/poll/context.js';
import { pollMachine } from '../../../machines/poll/machine.js';
import { pollNotInState, pollPolicy, type PollState } from '../../../machines/poll/policy.js';
import { Life } from '../step.js';

export const contract = (sha256 = 'a'.repeat(64)): PollFields['contract'] => ({
  command: ['/usr/local/bin/look'],
  intervalSeconds: 60,
  cwdPolicy: 'own-folder',
  envPolicy: 'basics',
  timeoutMs: 1_000,
  stdoutMaxBytes: 24_576,
  stderrMaxBytes: 16_384,
  executableArtifacts: [{ role: 'executable', path: '/usr/local/bin/look', sha256 }],
});

export const fields = (): PollFields => ({
  event: 'mail',
  targetWorkflowId: 'sort',
  filter: [],
  contract: contract(),
  contractHash: 'first',
});

/** A program that looks for mail every minute. */
export const fresh = (more: Partial<PollFields> = {}): Life<typeof pollMachine> =>
  new Life(
    pollMachine,
    { id: 'mail', ...fields(), ...more },
    ({ context }: SnapshotFrom<typeof pollMachine>, event: PollEvent) =>
      pollPolicy(context, event, authorityOf(event)),
    Date.UTC(2026, 5, 1),
    ({ value, context }, event: PollEvent) =>
      pollNotInState((typeof value === 'object' ? 'active' : value) as PollState, context, event),
  );
