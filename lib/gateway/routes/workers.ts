import { z } from 'zod';
import type { App, GatewayActor } from '../../commands/app.js';
import { askActor, type Reply } from '../../commands/request.js';
import { inviteWorker, joinWorker, knownWorkers } from '../../commands/workers.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { perMinute, type Limiter } from '../limiter.js';
import { residentBytes } from '../../../actors/engines/process/table.js';
import { idOf } from '../parse.js';
import { route, type HttpRequest, type Route } from '../route.js';

const worker = z
  .object({
    name: z.string(),
    place: z.enum(['here', 'elsewhere']).describe('here: on the machine of the gateway.'),
    state: z
      .enum(['serving', 'draining', 'earlier', 'invited', 'away'])
      .describe(
        'serving: turns begin there. draining: only what it has goes on. earlier: it has turns that an earlier ' +
          'life of the gateway began. Of another machine also invited: it has not joined yet; away: it is not ' +
          'connected.',
      ),
    pid: z.number().nullable(),
    startedAt: z.iso.datetime().nullable(),
    version: z
      .string()
      .nullable()
      .describe('Of Troupe. Null where it is not known: of an older build, or not connected yet.'),
    connectedAt: z.iso.datetime().nullable().describe('Of another machine: when it connected last.'),
    slots: z.int().nullable().describe('Turns at once. Null: it shares those of the gateway.'),
    labels: z.array(z.string()),
    engines: z.array(z.string()),
    roots: z.array(z.string()).describe('Folders there in which its agents may work.'),
    memoryBytes: z
      .number()
      .nullable()
      .describe('Resident memory of the process, without its agents. Null where it cannot be known.'),
    turns: z.array(
      z.object({
        turnId: z.string(),
        sessionId: z.string(),
        engine: z.string(),
        since: z.iso.datetime(),
      }),
    ),
  })
  .meta({ id: 'Worker' });

const answer = z.object({
  workers: z.array(worker),
  slots: z
    .object({
      max: z.number(),
      running: z.number(),
      waiting: z.number(),
      engines: z.record(z.string(), z.number()).describe('Of those that run, by engine.'),
    })
    .nullable()
    .describe('Turns at once, in all workers and in the gateway together.'),
  hosted: z
    .array(z.string())
    .describe('Engines whose turns here outlive the gateway. Those of all others end with it.'),
});

const done = z.object({ status: z.literal('ok') });
const ok: Reply = { body: { status: 'ok' } };
const name = z.string().min(1).max(32);

/** Workers: `here` is started by the gateway itself, those elsewhere are invited by a person. */
export const workerRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/workers',
    'workers.read',
    {
      about:
        'The processes that run turns for this gateway, here and on other machines, and what runs where. The first ' +
        'turn starts the one that is here; with `agents.worker: false` there is none.',
      answer,
    },
    async ({ app }) => ({ body: await list(app) }),
  ),
  route(
    'POST',
    '/api/workers',
    'workers.manage',
    {
      about:
        'Invite a worker of another machine: it joins with the code, once, within ten minutes ' +
        '(`troupe worker --join`).',
      body: z.looseObject({ name }),
      answer: z.object({ status: z.literal('ok'), name, code: z.string(), ttlSeconds: z.int() }),
      status: 201,
      refusals: ['CONFLICT'],
    },
    async (request: HttpRequest<{ name: string }, undefined>) => {
      const invited = await inviteWorker(request, request.body.name);
      return isRefusal(invited) ? invited : { body: { status: 'ok', ...invited } };
    },
  ),
  route(
    'POST',
    '/api/workers/join',
    'workers.join',
    {
      about: 'Exchange the code of an invitation for the token of the worker. Case and dashes do not matter.',
      body: z.looseObject({ name: z.string().max(200), code: z.string().max(200) }),
      answer: z.object({ status: z.literal('ok'), token: z.string() }),
      bodyBytesMax: 16_384,
      refusals: ['PAIRING_CODE_INVALID', 'TOO_MANY'],
    },
    join,
  ),
  manage(
    'drain',
    'No turn begins there any more; what it has goes on. One that is here ends with its last turn.',
    drain,
  ),
  manage('resume', 'Turns begin again on a worker of another machine that was drained.', resume),
  manage(
    'remove',
    'Ends its turns, which are interrupted, and then the worker. One of another machine must be invited again.',
    remove,
  ),
];

function manage(
  how: 'drain' | 'resume' | 'remove',
  about: string,
  run: (request: HttpRequest<unknown, undefined>, name: string) => Promise<boolean | Refusal>,
): Route {
  return route(
    'POST',
    `/api/workers/:id/${how}`,
    'workers.manage',
    { about, body: z.looseObject({}), answer: done, refusals: ['NOT_FOUND', 'CONFLICT'] },
    async (request): Promise<Reply | Refusal> => {
      const worker = idOf(request);
      const managed = await run(request, worker);
      if (isRefusal(managed)) return managed;
      return managed ? ok : refuse('NOT_FOUND', {}, `Worker not found: ${worker.slice(0, 64)}`);
    },
  );
}

async function drain(request: HttpRequest<unknown, undefined>, id: string): Promise<boolean | Refusal> {
  const { workers } = request.app;
  if ((await workers?.local?.drain(id)) === true) return true;
  const drained = await askKnown(request, id, 'worker.drain');
  if (drained === true) workers?.remote.drain(id, true);
  return drained;
}

async function resume(request: HttpRequest<unknown, undefined>, id: string): Promise<boolean | Refusal> {
  const resumed = await askKnown(request, id, 'worker.resume');
  if (resumed === true) request.app.workers?.remote.drain(id, false);
  return resumed;
}

async function remove(request: HttpRequest<unknown, undefined>, id: string): Promise<boolean | Refusal> {
  const { workers } = request.app;
  if ((await workers?.local?.remove(id)) === true) return true;
  const removed = await askKnown(request, id, 'worker.remove');
  if (removed === true) workers?.remote.remove(id);
  return removed;
}

async function askKnown(
  request: HttpRequest<unknown, undefined>,
  id: string,
  type: 'worker.drain' | 'worker.resume' | 'worker.remove',
): Promise<boolean | Refusal> {
  if ((await request.app.supervisor.get('worker', id)) === undefined) return false;
  const asked = await askActor(request, 'worker', id, { type });
  return isRefusal(asked) ? asked : true;
}

/** Of each gateway. */
const failures = new WeakMap<object, Limiter>();

/** The code is judged first, and only wrong ones are counted: no one can lock the worker out by guessing. */
async function join(
  request: HttpRequest<{ name: string; code: string }, undefined>,
): Promise<Reply | Refusal> {
  const { supervisor } = request.app;
  const limiter =
    failures.get(supervisor) ?? perMinute(failuresPerMinute, supervisor.environment.clock.monotonic);
  failures.set(supervisor, limiter);
  const joined = await joinWorker(request.app, request.body.name, request.body.code);
  if (!isRefusal(joined)) return { body: { status: 'ok', ...joined } };
  const resetAt = joined.code === 'PAIRING_CODE_INVALID' ? limiter.take() : undefined;
  return resetAt === undefined
    ? joined
    : refuse('TOO_MANY', { resetAt }, 'Too many invalid codes. A valid one is still accepted.');
}

const failuresPerMinute = 20;

async function list(app: App) {
  const { workers } = app;
  const here = (await workers?.local?.list()) ?? [];
  const elsewhere = workers === undefined ? [] : await knownWorkers(app);
  return {
    workers: [
      ...(await Promise.all(
        here.map(async ({ startedAt, turns, ...rest }) => ({
          ...rest,
          memoryBytes: await residentBytes(rest.pid),
          ...nothing,
          place: 'here' as const,
          startedAt: at(startedAt),
          turns: turns.map(shown),
        })),
      )),
      ...elsewhere.map((one) => shownElsewhere(app, one)),
    ],
    slots: workers?.slots() ?? null,
    hosted: [...(workers?.local?.hosted ?? [])],
  };
}

function shownElsewhere(app: App, { id, view: { status, connectedAt, offer } }: GatewayActor<'worker'>) {
  const seen = app.workers?.remote.stateOf(id);
  return {
    name: id,
    place: 'elsewhere' as const,
    state: status !== 'invited' && seen?.isHere !== true ? ('away' as const) : status,
    pid: seen?.pid ?? null,
    memoryBytes: null,
    startedAt: seen?.startedAt === undefined ? null : at(seen.startedAt),
    version: seen?.version ?? null,
    connectedAt,
    slots: offer?.slots ?? null,
    labels: offer?.labels ?? [],
    engines: offer?.engines ?? [],
    roots: offer?.roots ?? [],
    turns: (seen?.turns ?? []).map(shown),
  };
}

const nothing = { connectedAt: null, slots: null, labels: [], engines: [], roots: [] };
const at = (ms: number): string => new Date(ms).toISOString();
const shown = <Turn extends { readonly beganAt: number }>({ beganAt, ...turn }: Turn) => ({
  ...turn,
  since: at(beganAt),
});
