import { authorityOf } from '../../../machines/caller.js';
import type { SnapshotFrom } from 'xstate';
import type { ScheduleEvent } from '../../../machines/schedule/context.js';
import { scheduleMachine, schedulePolicy } from '../../../machines/schedule/machine.js';
import { Life } from '../step.js';

/** Jobs for specs, written down on the morning of 1 June 2026. */
export const morning = Date.UTC(2026, 5, 1, 8, 0, 30);

export type Job = Life<typeof scheduleMachine>;

export const fresh = (input: Record<string, unknown> = {}): Job =>
  new Life(
    scheduleMachine,
    {
      id: 'daily',
      name: 'Daily',
      enabled: true,
      schedule: '0 9 * * *',
      timezone: 'UTC',
      zone: 'UTC',
      engine: null,
      model: null,
      effortLevel: null,
      employee: null,
      prompt: 'digest',
      delivery: null,
      missed: 'skip',
      managedBy: null,
      workflowId: null,
      ...input,
    },
    (snapshot: SnapshotFrom<typeof scheduleMachine>, event: ScheduleEvent) =>
      schedulePolicy(snapshot.context, event, authorityOf(event)),
    morning,
  );

export interface Fire {
  readonly id: string;
  readonly dueAt: number;
  readonly why: string;
  readonly missed: string | null;
}
/** Every fire so far, in order. */
export const fires = (job: Job): readonly Fire[] => job.started.map(({ input }) => input as Fire);
export const run = (status = 'success') => ({
  timestamp: '2026-06-01T09:00:00.000Z',
  sessionKey: 'x',
  status,
  durationMs: 5,
});
