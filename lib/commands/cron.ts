import type { LaunchInput, Launched } from '../../machines/cron-fire/machine.js';
import { system } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { jobPlace, type JobFields } from '../../machines/schedule/context.js';
import type { ActorView } from '../supervisor/contract.js';
import { frozenPrefix, mintWorkItem, workItemInput } from './create-work-item.js';
import { asked, doneWith, employeeNamed, expected, type Asking, type Desk, type Done } from './desk.js';
import { inTurn } from './in-turn.js';
import { openWithin, selectFor } from './open-session.js';
import { workingFolder } from './working-folder.js';

/** Cron jobs: written down, changed, taken away, fired by hand; and what a fire opens. */

export type JobWish = Partial<JobFields> & { readonly id?: string | undefined };
/** Of a job that follows a workflow. */
export interface Managed { readonly managedBy: 'workflow'; readonly workflowId: string }

/** The zone of this machine, for jobs that name none. */
const homeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export async function createJob(desk: Desk, wish: JobWish, asking: Asking, managed?: Managed): Promise<Done<ActorView> | Refusal> {
  const id = wish.id ?? desk.supervisor.world.id();
  const unfit = fitId(id, managed) ?? await fitPeople(desk, wish);
  if (unfit !== undefined) return unfit;
  return inTurn(desk.supervisor, `cron/${id.toLowerCase()}`, () => createAs(desk, id, wish, asking, managed));
}

async function createAs(desk: Desk, id: string, wish: JobWish, asking: Asking, managed: Managed | undefined): Promise<Done<ActorView> | Refusal> {
  const twin = (await desk.supervisor.list('schedule', { index: 'all', prefix: jobPlace(id), limit: 1 })).items[0]?.id;
  if (twin !== undefined && (twin !== id || asking.idempotency === undefined)) return refuse('BAD_REQUEST', { path: 'id' }, `a cron job with id "${id}" already exists`);
  const input = { ...defaults, ...given(wish), zone: wish.timezone ?? homeZone(), managedBy: managed?.managedBy ?? null, workflowId: managed?.workflowId ?? null };
  if ((await desk.supervisor.get('schedule', id))?.value === 'deleted') {
    const { zone, managedBy, workflowId, ...job } = input;
    return answered(await desk.supervisor.ask('schedule', id, { type: 'job.revive', job, zone, managedBy, workflowId }, asked(asking)));
  }
  const born = await desk.supervisor.spawn('schedule', { id, input: input as unknown as Json, ...asked(asking) }); // plain values, all of them
  return isRefusal(born) && born.code === 'EXISTS' ? refuse('BAD_REQUEST', { path: 'id' }, `a cron job with id "${id}" already exists`) : answered(born);
}

export const editJob = (desk: Desk, id: string, patch: JobWish, asking: Asking): Promise<Done<ActorView> | Refusal> =>
  jobAsked(desk, id, { type: 'job.edit', patch: given(patch), zone: homeZone() }, asking, (job) => fitPeople(desk, patch, job));

export const deleteJob = (desk: Desk, id: string, asking: Asking): Promise<Done<ActorView> | Refusal> => jobAsked(desk, id, { type: 'job.delete' }, asking);

export const triggerJob = (desk: Desk, id: string, asking: Asking): Promise<Done<ActorView> | Refusal> => jobAsked(desk, id, { type: 'job.trigger' }, asking);

/** What a fire opens, under the fire's own name: asked again, it finds what is there. Throws a sentence when it cannot begin. */
export async function launchFire(desk: Desk, { fireId, job }: LaunchInput): Promise<Launched> {
  const employee = expected(employeeNamed(desk, job.employee));
  const wish = { prompt: job.prompt, title: job.name, employee: job.employee, engine: job.engine, model: job.model, effort: job.effortLevel };
  const selection = expected(await selectFor(desk, wish, employee));
  const sessionId = desk.supervisor.world.id();
  const cwd = expected(await workingFolder(desk, sessionId, undefined, false));
  const prefix = await frozenPrefix(desk);
  const by = system('cron');
  const done = expected(await desk.supervisor.transact<{ sessionId: string; workItemId: string }>({
    name: 'cron-fire', newWork: true, actors: [], by, idempotency: { scope: 'cron', key: fireId, hash: fireId },
    decide(turns) {
      const item = mintWorkItem(turns, prefix, workItemInput(
        { title: job.name, body: job.prompt, assignee: employee?.name ?? null, department: employee?.department ?? null, verifyPolicy: { mode: 'trust' } }, by, { source: 'cron', sourceRef: fireId },
      ));
      openWithin(desk, turns, sessionId, {
        wish, employee, selection, cwd, lineage: { parentSessionId: null, ancestors: [] }, workItemId: item.id,
        source: 'cron', sourceRef: fireId, reportTo: { kind: 'cron-fire', id: fireId },
      });
      return { sessionId, workItemId: item.id };
    },
  }));
  prefix.frozen = true;
  return done.result;
}

const defaults: JobFields = {
  name: 'untitled', enabled: true, schedule: '0 * * * *', timezone: null, engine: null, model: null, effortLevel: null, employee: null, prompt: '', delivery: null, missed: 'skip',
};

/** The fields of a job that a wish names, and nothing else of it. */
function given(wish: JobWish): Partial<JobFields> {
  return Object.fromEntries(Object.keys(defaults).flatMap((member) => {
    const value = wish[member as keyof JobFields];
    return value === undefined ? [] : [[member, value]];
  }));
}

function fitId(id: string, managed: Managed | undefined): Refusal | undefined {
  if (managed === undefined && id.toLowerCase().startsWith('workflow:')) return refuse('BAD_REQUEST', { path: 'id' }, 'cron job ids that begin with "workflow:" belong to workflows that wake by the clock');
  if (id !== id.trim()) return refuse('BAD_REQUEST', { path: 'id' }, 'cron job id must not have leading/trailing whitespace');
  return /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(id) ? undefined : refuse('BAD_REQUEST', { path: 'id' }, 'cron job id must be A-Z, a-z or 0-9, then at most 127 of those or . _ : -');
}

/** A name that nobody has, a connector, engine or model that does not exist: said when the job is written, not at three in the morning. `now`: the job, of an edit. */
async function fitPeople(desk: Desk, wish: JobWish, now?: JobFields): Promise<Refusal | undefined> {
  const named = employeeNamed(desk, wish.employee);
  if (isRefusal(named)) return named;
  const connector = wish.delivery?.connector;
  const connectors = desk.connectors?.instances().map(({ name }) => name);
  if (connector !== undefined && connectors?.includes(connector) === false) {
    return refuse('BAD_REQUEST', { path: 'delivery.connector', known: connectors }, `unknown connector "${connector}"; GET /api/connectors lists those that are configured`);
  }
  if ([wish.engine, wish.model, wish.effortLevel, wish.employee].every((member) => member === undefined)) return undefined;
  const { engine, model, effortLevel: effort, employee } = { ...now, ...given(wish) };
  if (engine == null && model == null && effort == null) return undefined;
  const person = wish.employee === undefined ? employeeNamed(desk, employee) : named;
  const selected = await selectFor(desk, { prompt: '', engine, model, effort }, isRefusal(person) ? null : person); // who has left meanwhile is not what this edit is about
  return isRefusal(selected) ? selected : undefined;
}

async function jobAsked(desk: Desk, id: string, event: { readonly type: string; readonly [member: string]: unknown }, asking: Asking, judge?: (job: JobFields) => Promise<Refusal | undefined>): Promise<Done<ActorView> | Refusal> {
  const known = await desk.supervisor.get('schedule', id);
  const gone = refuse('NOT_FOUND', { kind: 'cron job', id }, 'Not found');
  if (known === undefined || (known.value === 'deleted' && asking.idempotency === undefined)) return gone;
  const unfit = await judge?.(known.view as JobFields);
  if (unfit !== undefined) return unfit;
  const answer = await desk.supervisor.ask('schedule', id, event, asked(asking)); // asked again with its key, a deed is answered also when the job is gone
  return isRefusal(answer) && answer.code === 'UNKNOWN_EVENT' ? gone : answered(answer);
}

const answered = (view: ActorView | Refusal): Done<ActorView> | Refusal => (isRefusal(view) ? view : doneWith(view, view));
