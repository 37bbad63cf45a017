import { system } from '../../../machines/caller.js';
import type { TriggerNode, WorkflowDefinition } from '../../../machines/graph/definition.js';
import type { Launched, LaunchInput } from '../../../machines/cron-fire/machine.js';
import { isRefusal } from '../../../machines/refusals.js';
import { scheduledPlace } from '../../../machines/workflow-run/view.js';
import { createJob, deleteJob, editJob } from '../cron.js';
import { recordOf, type Desk } from '../desk.js';
import { inTurn } from '../in-turn.js';
import { idsOf } from '../walk.js';
import { definitionAt } from './definitions.js';
import { startRun } from './start-run.js';

/**
 * A definition that wakes by the clock has a cron job of its own, `workflow:<id>`. The job follows the definition: it is
 * made, changed and taken away with it, after every write and once more at every start, for what a crash left undone.
 */
const by = system('workflows');
const jobOf = (workflowId: string): string => `workflow:${workflowId}`;

export function followSchedule(desk: Desk, workflowId: string): Promise<void> {
  // one after the other: who read the older version must not be the last to write
  return inTurn(desk.supervisor, `workflow-job/${workflowId}`, async () => {
    const done = await follow(desk, workflowId);
    if (isRefusal(done)) desk.supervisor.world.log.warn({ workflowId, code: done.code, reason: done.message }, 'the schedule of a workflow could not be followed');
  });
}

async function follow(desk: Desk, workflowId: string): Promise<unknown> {
  const id = jobOf(workflowId);
  if (desk.records === undefined || id.length > 128) return undefined; // schedules are a home's; a definition with so long an id never wakes by the clock
  const definition = await definitionAt(desk, workflowId);
  const wanted = definition === undefined || await endOf(desk, definition, desk.supervisor.world.now()) !== undefined ? undefined : timesOf(definition);
  const job = await desk.supervisor.get('schedule', id);
  const there = job !== undefined && job.value !== 'deleted';
  if (wanted === undefined) return there ? deleteJob(desk, id, { by }) : undefined;
  if (!there) return createJob(desk, { id, ...wanted }, { by }, { managedBy: 'workflow', workflowId });
  return Object.entries(wanted).some(([member, value]) => recordOf(job)[member] !== value) ? editJob(desk, id, wanted, { by }) : undefined;
}

/** All of them: those that should have a job, and those that have one. */
export async function followSchedules(desk: Desk): Promise<void> {
  if (desk.records === undefined) return;
  const jobs = await idsOf(desk.supervisor, 'schedule', { index: 'all' });
  const workflows = await idsOf(desk.supervisor, 'workflow', { index: 'schedule' });
  const followed = new Set([...workflows, ...jobs.flatMap((id) => (id.startsWith('workflow:') ? [id.slice('workflow:'.length)] : []))]);
  for (const workflowId of followed) await followSchedule(desk, workflowId);
}

/** When a definition wakes; undefined: not by the clock, or not now. */
function timesOf(definition: WorkflowDefinition): { readonly name: string; readonly prompt: string; readonly schedule: string; readonly timezone: string; readonly enabled: boolean } | undefined {
  const trigger = triggerOf(definition);
  if (definition.status !== 'active' || trigger?.kind !== 'schedule') return undefined;
  return { name: definition.title, prompt: `Run the workflow "${definition.id}".`, schedule: trigger.cron, timezone: trigger.timezone, enabled: true };
}

/** What a fire of such a job does: one run, under the fire's own name. Throws a sentence when it cannot begin. */
export async function launchScheduled(desk: Desk, workflowId: string, fire: Fire): Promise<Launched> {
  return inTurn(desk.supervisor, `workflow-schedule/${workflowId}`, () => launch(desk, workflowId, fire)); // two fires at once count each other
}

type Fire = Pick<LaunchInput, 'fireId' | 'jobId' | 'dueAt'>;

async function launch(desk: Desk, workflowId: string, { fireId, jobId, dueAt }: Fire): Promise<Launched> {
  const definition = await definitionAt(desk, workflowId);
  const again = await desk.supervisor.count('workflow-run', { index: 'scheduled', prefix: scheduledPlace(workflowId, fireId), limit: 1 }) > 0; // the run is there: a crash forgot only to say so
  const end = definition === undefined || again ? undefined : await endOf(desk, definition, dueAt);
  if (end !== undefined) {
    await deleteJob(desk, jobId, { by });
    throw new Error(`The schedule of workflow "${workflowId}" ended ${end}.`);
  }
  const started = await startRun(desk, {
    workflowId, idempotencyKey: fireId, reportTo: { kind: 'cron-fire', id: fireId },
    trigger: { source: 'schedule', event: jobId, payload: { scheduledFor: new Date(dueAt).toISOString() }, fireRef: fireId },
  }, { by: system('cron') });
  if (isRefusal(started)) throw new Error(started.message);
  if (definition?.loop?.maxRuns != null) await followSchedule(desk, workflowId); // it may have been the last one
  return { workflowRunId: started.value.id };
}

/** Why the clock starts no more runs of it at `at`: too late, or enough of them. Undefined: it goes on. */
async function endOf({ supervisor }: Desk, definition: WorkflowDefinition, at: number): Promise<string | undefined> {
  const trigger = triggerOf(definition);
  const until = (trigger?.kind === 'schedule' ? trigger.until : null) ?? definition.loop?.until ?? null;
  if (until !== null && at > Date.parse(until)) return `at ${until}`;
  const maxRuns = definition.loop?.maxRuns ?? null;
  if (maxRuns === null || await supervisor.count('workflow-run', { index: 'scheduled', prefix: scheduledPlace(definition.id), limit: maxRuns }) < maxRuns) return undefined;
  return `after ${maxRuns} run${maxRuns === 1 ? '' : 's'}`;
}

const triggerOf = ({ nodes }: WorkflowDefinition) => nodes.find((node): node is TriggerNode => node.type === 'trigger')?.trigger;
