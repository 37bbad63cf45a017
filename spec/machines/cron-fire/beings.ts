import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import { fireMachine, firePolicy, type FireEvent } from '../../../machines/cron-fire/machine.js';
import { Life } from '../step.js';

/** A run of a job that digests and tells a chat. */
export const fresh = (input: Record<string, unknown> = {}): Life<typeof fireMachine> =>
  new Life(
    fireMachine,
    {
      id: 'cron:daily:2026-06-01T09:00:00.000Z',
      jobId: 'daily',
      dueAt: Date.UTC(2026, 5, 1, 9),
      why: 'schedule',
      missed: null,
      job: {
        name: 'Daily',
        engine: null,
        model: null,
        effortLevel: null,
        employee: null,
        prompt: 'digest',
        delivery: { connector: 'chat', channel: 'general' },
        workflowId: null,
      },
      ...input,
    },
    (_snapshot: SnapshotFrom<typeof fireMachine>, event: FireEvent) => firePolicy(event, authorityOf(event)),
    Date.UTC(2026, 5, 1, 9),
  );
