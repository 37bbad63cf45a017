import type { Caller } from '../caller.js';
import type { Stamp } from '../outputs.js';
import { sortableText } from '../sortable.js';
import type { Ran } from './ran.js';

/** The shapes of a cron job. Times are epoch milliseconds. */

export type MissedPolicy = 'skip' | 'once' | 'all';
export type Delivery = { readonly connector: string; readonly channel: string };

/** What people write down of a job. */
export type JobFields = {
  readonly name: string;
  readonly enabled: boolean;
  readonly schedule: string;
  readonly timezone: string | null;
  readonly engine: string | null;
  readonly model: string | null;
  readonly effortLevel: string | null;
  readonly employee: string | null;
  readonly prompt: string;
  readonly delivery: Delivery | null;
  readonly missed: MissedPolicy;
};

export interface ScheduleContext extends JobFields {
  readonly id: string;
  /** `workflow`: kept in step with a definition; no one else changes it. */
  readonly managedBy: string | null;
  readonly workflowId: string | null;
  /** The zone that `timezone` comes to: its own, else that of the machine when it was last written. */
  readonly zone: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Who wrote it last: its fires are theirs. Absent in jobs of before it was kept, which only people wrote. */
  readonly writtenBy?: string;
  /** The next instant it is due; null while it is disabled. */
  readonly nextAt: number | null;
  /** Up to here everything is dealt with, since the clock was last set back. */
  readonly doneUntil: number;
  // The three are absent in jobs of before they were kept.
  /** When it ran every instant. */
  readonly ran?: Ran;
  /** How often it noticed that the clock was set back. */
  readonly setBacks?: number;
  /** The latest instant that is on record, run or missed. */
  readonly knownUntil?: number;
  readonly fires: number;
  readonly missedFires: number;
  /** Fires that have not ended yet. */
  readonly active: readonly string[];
  readonly lastRun: LastRun | null;
}

export type LastRun = {
  readonly timestamp: string;
  readonly sessionKey: string;
  readonly status: string;
  readonly durationMs: number;
};

export interface ScheduleInput extends JobFields {
  readonly id: string;
  readonly at: number;
  readonly by?: Caller;
  readonly zone: string;
  readonly managedBy: string | null;
  readonly workflowId: string | null;
}

export type ScheduleEvent = Stamp &
  /** `zone`: that of the machine, where the job then names none. */
  (
    | { readonly type: 'job.edit'; readonly patch: Partial<JobFields>; readonly zone: string }
    | {
        readonly type: 'job.revive';
        readonly job: JobFields;
        readonly zone: string;
        readonly managedBy: string | null;
        readonly workflowId: string | null;
      }
    | { readonly type: 'job.trigger' }
    | { readonly type: 'job.delete' }
    // Of its own timer, and of the gateway when someone set the clock back:
    | { readonly type: 'job.due' }
  );
export type ScheduleEventOf<Type extends ScheduleEvent['type']> = Extract<ScheduleEvent, { type: Type }>;

/** What a fire is told. */
export interface FireInput {
  readonly id: string;
  readonly at: number;
  readonly jobId: string;
  readonly dueAt: number;
  readonly why: 'schedule' | 'caught-up' | 'trigger';
  /** It will not run: its time went by. */
  readonly missed: string | null;
  readonly job: Pick<
    JobFields,
    'name' | 'engine' | 'model' | 'effortLevel' | 'employee' | 'prompt' | 'delivery'
  > & { readonly workflowId: string | null; readonly writtenBy?: string };
}

export const limits = {
  /** Later than this a fire is not late but missed. */
  graceMs: 60_000,
  /** Of fires that were missed, so many newest ones are caught up, and are recorded. */
  missedMax: 24,
  activeMax: 10,
  promptBytesMax: 64 * 1024,
  nameCharsMax: 200,
} as const;

/**
 * Where a job stands in its list: big and small letters are one. Closed by a `/`, so that it is no beginning
 * of another one.
 */
export const jobPlace = (id: string): string => `${sortableText(id.toLowerCase())}/`;

/** The job as an edit leaves it. */
export function edited(
  context: ScheduleContext,
  { patch, zone }: Pick<ScheduleEventOf<'job.edit'>, 'patch' | 'zone'>,
): ScheduleContext {
  const job = { ...context, ...patch };
  return { ...job, zone: job.timezone ?? zone };
}
