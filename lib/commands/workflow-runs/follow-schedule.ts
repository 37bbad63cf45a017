import { system } from '../../../machines/caller.js';
import type { TriggerNode, WorkflowDefinition } from '../../../machines/graph/definition.js';
import type { Launched, LaunchInput } from '../../../machines/cron-fire/machine.js';
import { isRefusal } from '../../../machines/refusals.js';
import { createJob, deleteJob, editJob } from '../cron.js';
import { recordOf, type Desk } from '../desk.js';
import { idsOf } from '../walk.js';
import { definitionAt } from './definitions.js';
import { startRun } from './start-run.js';

/**
 * A definition that wakes by the clock has a cron job of its own, `workflow:<id>`. The job follows the definition: it is
 * made, changed and taken away with it, after every write and once more at every start, for what a crash left undone.
 */
const by = system('workflows');
const jobOf = (workflowId: string): string => `workflow:${workflowId}`;

export async function followSchedule(desk: Desk, workflowId: string): Promise<void> {
  const id = jobOf(workflowId);
  if (desk.records === undefined || id.length > 128) return; // schedules are a home's
  const wanted = timesOf(await definitionAt(desk, workflowId));
  const job = await desk.supervisor.get('schedule', id);
  const there = job !== undefined && job.value !== 'deleted';
  if (wanted === undefined) {
    if (there) await deleteJob(desk, id, { by });
  } else if (!there) {
    await createJob(desk, { id, ...wanted }, { by }, { managedBy: 'workflow', workflowId });
  } else if (Object.entries(wanted).some(([member, value]) => recordOf(job)[member] !== value)) {
    await editJob(desk, id, wanted, { by });
  }
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
function timesOf(definition: WorkflowDefinition | undefined): { readonly name: string; readonly prompt: string; readonly schedule: string; readonly timezone: string; readonly enabled: boolean } | undefined {
  const trigger = definition?.nodes.find((node): node is TriggerNode => node.type === 'trigger')?.trigger;
  if (definition?.status !== 'active' || trigger?.kind !== 'schedule') return undefined;
  return { name: definition.title, prompt: `Run the workflow "${definition.id}".`, schedule: trigger.cron, timezone: trigger.timezone, enabled: true };
}

/** What a fire of such a job does: one run, under the fire's own name. Throws a sentence when it cannot begin. */
export async function launchScheduled(desk: Desk, workflowId: string, { fireId, jobId, dueAt }: Pick<LaunchInput, 'fireId' | 'jobId' | 'dueAt'>): Promise<Launched> {
  const definition = await definitionAt(desk, workflowId);
  const trigger = definition?.nodes.find((node): node is TriggerNode => node.type === 'trigger')?.trigger;
  const until = (trigger?.kind === 'schedule' ? trigger.until : null) ?? definition?.loop?.until ?? null;
  if (until !== null && dueAt > Date.parse(until)) {
    await deleteJob(desk, jobId, { by });
    throw new Error(`The schedule of workflow "${workflowId}" ended at ${until}.`);
  }
  const started = await startRun(desk, {
    workflowId, idempotencyKey: fireId, reportTo: { kind: 'cron-fire', id: fireId },
    trigger: { source: 'schedule', event: jobId, payload: { scheduledFor: new Date(dueAt).toISOString() }, fireRef: fireId },
  }, { by: system('cron') });
  if (isRefusal(started)) throw new Error(started.message);
  return { workflowRunId: started.value.id };
}
