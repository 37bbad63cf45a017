import { system } from '../../../machines/caller.js';
import type { TriggerNode, WorkflowDefinition } from '../../../machines/graph/definition.js';
import type { Launched, LaunchInput } from '../../../machines/cron-fire/machine.js';
import { isRefusal } from '../../../machines/refusals.js';
import { scheduledPlace } from '../../../machines/workflow-run/view.js';
import { createJob, deleteJob, editJob } from '../cron.js';
import { causeOfVersion, versionAuthority } from '../authority/workflow-authority.js';
import type { App } from '../app.js';
import { inTurn } from '../request.js';
import { idsOf } from '../iterate.js';
import { definitionAt } from './definitions.js';
import { startRun } from './start-run.js';

/**
 * A definition that wakes by the clock has a cron job of its own, `workflow:<id>`. The job follows the
 * definition: it is made, changed and taken away with it, after every write and once more at every start, for
 * what a crash left undone.
 */
const by = system('workflows');
const jobOf = (workflowId: string): string => `workflow:${workflowId}`;

export function followSchedule(app: App, workflowId: string): Promise<void> {
  // one after the other: who read the older version must not be the last to write
  return inTurn(app.supervisor, `workflow-job/${workflowId}`, async () => {
    const done = await follow(app, workflowId);
    if (isRefusal(done))
      app.supervisor.environment.log.warn(
        { workflowId, code: done.code, reason: done.message },
        'could not update the schedule of a workflow',
      );
  });
}

async function follow(app: App, workflowId: string): Promise<unknown> {
  const id = jobOf(workflowId);
  // Only a home has schedules; a definition whose id is too long for a job has none.
  if (app.records === undefined || id.length > 128) return undefined;
  const definition = await definitionAt(app, workflowId);
  const wanted =
    definition === undefined ||
    (await isPending(app, definition)) ||
    (await endOf(app, definition, app.supervisor.environment.clock.now())) !== undefined
      ? undefined
      : timesOf(definition);
  const job = await app.supervisor.get('schedule', id);
  const there = job !== undefined && job.value !== 'deleted';
  if (wanted === undefined) return there ? deleteJob({ app, caller: by }, id) : undefined;
  if (!there) return createJob({ app, caller: by }, { id, ...wanted }, { managedBy: 'workflow', workflowId });
  return (Object.keys(wanted) as (keyof typeof wanted)[]).some((name) => job.view[name] !== wanted[name])
    ? editJob({ app, caller: by }, id, wanted)
    : undefined;
}

/** All of them: those that should have a job, and those that have one. */
export async function followSchedules(app: App): Promise<void> {
  if (app.records === undefined) return;
  const jobs = await idsOf(app.supervisor, 'schedule', { index: 'all' });
  const workflows = await idsOf(app.supervisor, 'workflow', { index: 'schedule' });
  const followed = new Set([
    ...workflows,
    ...jobs.flatMap((id) => (id.startsWith('workflow:') ? [id.slice('workflow:'.length)] : [])),
  ]);
  for (const workflowId of followed) await followSchedule(app, workflowId);
}

/** When a definition wakes; undefined: not by the clock, or not now. */
function timesOf(definition: WorkflowDefinition):
  | {
      readonly name: string;
      readonly prompt: string;
      readonly schedule: string;
      readonly timezone: string;
      readonly enabled: boolean;
    }
  | undefined {
  const trigger = triggerOf(definition);
  if (definition.status !== 'active' || trigger?.kind !== 'schedule') return undefined;
  return {
    name: definition.title,
    prompt: `Run the workflow "${definition.id}".`,
    schedule: trigger.cron,
    timezone: trigger.timezone,
    enabled: true,
  };
}

/**
 * What a fire of such a job does: one run, under the fire's own name. Throws a sentence when it cannot begin.
 */
export async function launchScheduled(app: App, workflowId: string, fire: Fire): Promise<Launched> {
  // Two fires at once count each other
  return inTurn(app.supervisor, `workflow-schedule/${workflowId}`, () => launch(app, workflowId, fire));
}

type Fire = Pick<LaunchInput, 'fireId' | 'jobId' | 'dueAt'>;

async function launch(app: App, workflowId: string, { fireId, jobId, dueAt }: Fire): Promise<Launched> {
  const definition = await definitionAt(app, workflowId);
  const again =
    (await app.supervisor.countRange('workflow-run', {
      index: 'scheduled',
      prefix: scheduledPlace(workflowId, fireId),
      limit: 1,
    })) > 0; // the run is there: a crash forgot only to say so
  const end = definition === undefined || again ? undefined : await endOf(app, definition, dueAt);
  if (end !== undefined) {
    await deleteJob({ app, caller: by }, jobId);
    throw new Error(`The schedule of workflow "${workflowId}" ended ${end}.`);
  }
  const cause = definition && (await causeOfVersion(app, definition));
  if (definition !== undefined && cause === undefined)
    throw new Error(`Who wrote workflow "${workflowId}" is not known any more: a person must approve it.`);
  const started = await startRun(
    { app, caller: system('cron'), ...(cause && { onBehalfOf: [cause] as const }) },
    {
      workflowId,
      idempotencyKey: fireId,
      reportTo: { kind: 'cron-fire', id: fireId },
      trigger: {
        source: 'schedule',
        event: jobId,
        payload: { scheduledFor: new Date(dueAt).toISOString() },
        fireRef: fireId,
      },
    },
  );
  if (isRefusal(started)) throw new Error(started.message);
  // It may have been the last one
  if (definition?.loop?.maxRuns != null) await followSchedule(app, workflowId);
  return { workflowRunId: started.body.id };
}

/** What starts by itself and no person has approved has no job. */
async function isPending(app: App, { id, version }: WorkflowDefinition): Promise<boolean> {
  const { state } = await versionAuthority(app, id, version);
  return state === 'pending_approval' || state === 'rejected';
}

/** Why the clock starts no more runs of it at `at`: too late, or enough of them. Undefined: it goes on. */
async function endOf(
  { supervisor }: App,
  definition: WorkflowDefinition,
  at: number,
): Promise<string | undefined> {
  const trigger = triggerOf(definition);
  const until = (trigger?.kind === 'schedule' ? trigger.until : null) ?? definition.loop?.until ?? null;
  if (until !== null && at > Date.parse(until)) return `at ${until}`;
  const maxRuns = definition.loop?.maxRuns ?? null;
  if (
    maxRuns === null ||
    (await supervisor.countRange('workflow-run', {
      index: 'scheduled',
      prefix: scheduledPlace(definition.id),
      limit: maxRuns,
    })) < maxRuns
  )
    return undefined;
  return `after ${maxRuns} run${maxRuns === 1 ? '' : 's'}`;
}

const triggerOf = ({ nodes }: WorkflowDefinition) =>
  nodes.find((node): node is TriggerNode => node.type === 'trigger')?.trigger;
