import type { GatewayEvent } from '../../actors/gateway-kinds.js';
import type { LaunchInput, Launched } from '../../machines/cron-fire/machine.js';
import { system, type Causes } from '../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { jobPlace, type JobFields } from '../../machines/schedule/context.js';
import { frozenPrefix, mintWorkItem, workItemInput } from './work-items/create-work-item.js';
import { employeeNamed, timeZoneOf, type App, type GatewayActor } from './app.js';
import { optionsOf, replyWith, expected, type Request, type Reply, inTurn } from './request.js';
import { callerNamed } from './authority/causes.js';
import { rightsOf } from './authority/session-rights.js';
import { openWithin, selectFor } from './sessions/open-session.js';
import { ownPlace } from './workers.js';
import { ownRow, idsOf } from './iterate.js';

/** Cron jobs: written down, changed, taken away, fired by hand; and what a fire opens. */

export type JobInput = Partial<JobFields> & { readonly id?: string | undefined };
/** Of a job that follows a workflow. */
export interface Managed {
  readonly managedBy: 'workflow';
  readonly workflowId: string;
}

export async function createJob(
  request: Request,
  input: JobInput,
  managed?: Managed,
): Promise<Reply<GatewayActor<'schedule'>> | Refusal> {
  const id = input.id ?? request.app.supervisor.environment.ids.next();
  const unfit = fitId(id, managed) ?? (await fitPeople(request.app, input));
  if (unfit !== undefined) return unfit;
  return inTurn(request.app.supervisor, `cron/${id.toLowerCase()}`, () =>
    createAs(request, id, input, managed),
  );
}

async function createAs(
  request: Request,
  id: string,
  input: JobInput,
  managed: Managed | undefined,
): Promise<Reply<GatewayActor<'schedule'>> | Refusal> {
  const twin = (
    await request.app.supervisor.list('schedule', { index: 'all', prefix: jobPlace(id), limit: 1 })
  ).items[0]?.id;
  if (twin !== undefined && (twin !== id || request.idempotency === undefined))
    return refuse('BAD_REQUEST', { path: 'id' }, `a cron job with id "${id}" already exists`);
  const fields = {
    ...defaults,
    ...given(input),
    zone: input.timezone ?? timeZoneOf(request.app.settings),
    managedBy: managed?.managedBy ?? null,
    workflowId: managed?.workflowId ?? null,
  };
  if ((await request.app.supervisor.get('schedule', id))?.value === 'deleted') {
    const { zone, managedBy, workflowId, ...job } = fields;
    return answered(
      await request.app.supervisor.ask(
        'schedule',
        id,
        { type: 'job.revive', job, zone, managedBy, workflowId },
        optionsOf(request),
      ),
    );
  }
  const created = await request.app.supervisor.spawn('schedule', {
    id,
    input: fields,
    ...optionsOf(request),
  });
  return isRefusal(created) && created.code === 'EXISTS'
    ? refuse('BAD_REQUEST', { path: 'id' }, `a cron job with id "${id}" already exists`)
    : answered(created);
}

export const editJob = (
  request: Request,
  id: string,
  patch: JobInput,
): Promise<Reply<GatewayActor<'schedule'>> | Refusal> =>
  jobAsked(
    request,
    id,
    { type: 'job.edit', patch: given(patch), zone: timeZoneOf(request.app.settings) },
    (job) => fitPeople(request.app, patch, job),
  );

export const deleteJob = (request: Request, id: string): Promise<Reply<GatewayActor<'schedule'>> | Refusal> =>
  jobAsked(request, id, { type: 'job.delete' });

export const triggerJob = (
  request: Request,
  id: string,
): Promise<Reply<GatewayActor<'schedule'>> | Refusal> => jobAsked(request, id, { type: 'job.trigger' });

/**
 * What a fire opens, under the fire's own name: asked again, it finds what is there. Throws a sentence when
 * it cannot begin.
 */
export async function launchFire(app: App, { fireId, job }: LaunchInput): Promise<Launched> {
  const employee = expected(employeeNamed(app, job.employee));
  const input = {
    prompt: job.prompt,
    title: job.name,
    employee: job.employee,
    engine: job.engine,
    model: job.model,
    effort: job.effortLevel,
  };
  const selection = expected(await selectFor(app, input, employee));
  const sessionId = app.supervisor.environment.ids.next();
  const { cwd, placement } = expected(await ownPlace(app, sessionId, employee));
  const causes = await causesOfFire(app, job);
  const rights = expected(await rightsOf(app, { causes, parentSessionId: null, employee }));
  const prefix = await frozenPrefix(app);
  const by = system('cron');
  const done = expected(
    await app.supervisor.transact<{ sessionId: string; workItemId: string }>({
      name: 'cron-fire',
      startsWork: true,
      actors: [],
      by,
      onBehalfOf: causes,
      idempotency: { scope: 'cron', key: fireId, hash: fireId },
      run(turns) {
        const item = mintWorkItem(
          turns,
          prefix,
          workItemInput(
            {
              title: job.name,
              body: job.prompt,
              assignee: employee?.name ?? null,
              department: employee?.department ?? null,
              verifyPolicy: { mode: 'trust' },
            },
            by,
            { source: 'cron', sourceRef: fireId },
          ),
        );
        openWithin(app, turns, sessionId, {
          input,
          employee,
          selection,
          cwd,
          placement,
          rights,
          lineage: { parentSessionId: null, ancestors: [] },
          workItemId: item.id,
          source: 'cron',
          sourceRef: fireId,
          reportTo: { kind: 'cron-fire', id: fireId },
        });
        return { sessionId, workItemId: item.id };
      },
    }),
  );
  prefix.frozen = true;
  return done.result;
}

/** A fire is the operation of who wrote its job: jobs from before that was kept were written by people, as all are. */
async function causesOfFire(app: App, { writtenBy = 'operator' }: LaunchInput['job']): Promise<Causes> {
  const cause = await callerNamed(app, writtenBy);
  if (cause === undefined) throw new Error(`Who wrote this job is not known any more (${writtenBy}).`);
  return [cause];
}

const defaults: JobFields = {
  name: 'untitled',
  enabled: true,
  schedule: '0 * * * *',
  timezone: null,
  engine: null,
  model: null,
  effortLevel: null,
  employee: null,
  prompt: '',
  delivery: null,
  missed: 'skip',
};

/** The fields of a job that a input names, and nothing else of it. */
function given(input: JobInput): Partial<JobFields> {
  return Object.fromEntries(
    Object.keys(defaults).flatMap((member) => {
      const value = input[member as keyof JobFields];
      return value === undefined ? [] : [[member, value]];
    }),
  );
}

function fitId(id: string, managed: Managed | undefined): Refusal | undefined {
  if (managed === undefined && id.toLowerCase().startsWith('workflow:'))
    return refuse(
      'BAD_REQUEST',
      { path: 'id' },
      'cron job ids that begin with "workflow:" are reserved for workflow schedules',
    );
  if (id !== id.trim())
    return refuse('BAD_REQUEST', { path: 'id' }, 'cron job id must not have leading/trailing whitespace');
  return /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(id)
    ? undefined
    : refuse(
        'BAD_REQUEST',
        { path: 'id' },
        'cron job id must be A-Z, a-z or 0-9, then at most 127 of those or . _ : -',
      );
}

/**
 * A name that no one has, a connector, engine or model that does not exist: said when the job is written, not
 * at three in the morning. `now`: the job, of an edit.
 */
async function fitPeople(app: App, input: JobInput, now?: JobFields): Promise<Refusal | undefined> {
  const named = employeeNamed(app, input.employee);
  if (isRefusal(named)) return named;
  const connector = input.delivery?.connector;
  const connectors = app.connectors?.instances().map(({ name }) => name);
  if (connector !== undefined && connectors?.includes(connector) === false) {
    return refuse(
      'BAD_REQUEST',
      { path: 'delivery.connector', known: connectors },
      `unknown connector "${connector}"; GET /api/connectors lists the configured connectors`,
    );
  }
  if ([input.engine, input.model, input.effortLevel, input.employee].every((member) => member === undefined))
    return undefined;
  const { engine, model, effortLevel: effort, employee } = { ...now, ...given(input) };
  if (engine == null && model == null && effort == null) return undefined;
  const person = input.employee === undefined ? employeeNamed(app, employee) : named;
  const selected = await selectFor(
    app,
    { prompt: '', engine, model, effort },
    isRefusal(person) ? null : person,
  ); // who has left meanwhile is not what this edit is about
  return isRefusal(selected) ? selected : undefined;
}

async function jobAsked(
  request: Request,
  id: string,
  event: GatewayEvent<'schedule'>,
  judge?: (job: JobFields) => Promise<Refusal | undefined>,
): Promise<Reply<GatewayActor<'schedule'>> | Refusal> {
  const known = await request.app.supervisor.get('schedule', id);
  const gone = refuse('NOT_FOUND', { kind: 'cron job', id }, 'Not found');
  if (known === undefined || (known.value === 'deleted' && request.idempotency === undefined)) return gone;
  const unfit = await judge?.(known.view as JobFields);
  if (unfit !== undefined) return unfit;
  // Asked again with its key, an operation is answered also when the job is gone
  return answered(await request.app.supervisor.ask('schedule', id, event, optionsOf(request)));
}

const answered = (view: GatewayActor<'schedule'> | Refusal): Reply<GatewayActor<'schedule'>> | Refusal =>
  isRefusal(view) ? view : replyWith(view, view);

/**
 * Tells cron jobs when someone has set the clock back. A job hears its alarm when the time of waits says so,
 * which never goes back: without a word, a monthly job would notice within the month. How far the clock of
 * waits stands ahead of the wall is kept, so that a clock which was set back while no one was there is
 * noticed at the next start.
 */
export function followClock(
  app: Pick<App, 'supervisor'>,
  failed: (error: unknown) => void,
): { close(): void } {
  const { environment } = app.supervisor;
  let known: number | undefined;
  let closed = false;
  let cancel: (() => void) | undefined;
  const poll = async (): Promise<void> => {
    known ??= await leadKept(app);
    const lead = environment.clock.monotonic() - environment.clock.now();
    if (Math.abs(lead - known) > leastMs) {
      if (lead > known) await wake(app);
      await keep(app, lead);
      known = lead;
    }
  };
  const turn = (): void => {
    void poll()
      .catch((error: unknown) => {
        if (!closed) failed(error);
      })
      .finally(() => {
        if (!closed) cancel = environment.clock.timeout(everyMs, turn);
      });
  };
  turn();
  return {
    close() {
      closed = true;
      cancel?.();
    },
  };
}

/** Well within the minute in which a run is not late. */
const everyMs = 15_000;
const leastMs = 2_000;
const leadKey = 'cron/clock-lead';

async function leadKept({ supervisor }: Pick<App, 'supervisor'>): Promise<number> {
  const kept = await ownRow(supervisor, leadKey);
  return typeof kept === 'number' ? kept : 0;
}

const keep = ({ supervisor }: Pick<App, 'supervisor'>, lead: number): Promise<unknown> =>
  supervisor.transact({
    name: 'cron-clock',
    actors: [],
    by: system('cron'),
    run: (turns) => {
      turns.put(leadKey, lead);
      return null;
    },
  });

/** An alarm that rings before its time makes a job look at the clock. */
async function wake({ supervisor }: Pick<App, 'supervisor'>): Promise<void> {
  const jobs = await idsOf(supervisor, 'schedule', { index: 'all' });
  for (let from = 0; from < jobs.length; from += atOnce) {
    await Promise.all(
      jobs
        .slice(from, from + atOnce)
        .map((id) => supervisor.ask('schedule', id, { type: 'job.due' }, { by: system('cron') })),
    );
  }
}
const atOnce = 64;
