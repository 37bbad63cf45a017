import { z } from 'zod';
import type { Reply } from '../../commands/request.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { residentBytes } from '../../../actors/engines/process/table.js';
import { idOf } from '../parse.js';
import { route, type HttpRequest, type Route } from '../route.js';

const worker = z
  .object({
    name: z.string(),
    state: z
      .enum(['serving', 'draining', 'earlier'])
      .describe(
        'serving: turns begin there. draining: only what it has goes on. earlier: it has turns that an earlier ' +
          'life of the gateway began.',
      ),
    pid: z.number(),
    startedAt: z.iso.datetime(),
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
    .describe('Turns at once, in workers and in the gateway together.'),
  hosted: z
    .array(z.string())
    .describe('Engines whose turns outlive the gateway. Those of all others end with it.'),
});

export const workerRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/workers',
    'workers.read',
    {
      about:
        'The processes that run turns for this gateway, and what runs where. The first turn starts one; with ' +
        '`agents.worker: false` there are none.',
      answer,
    },
    list,
  ),
  ...(
    [
      [
        'drain',
        'No turn begins there any more; it ends with its last one. The next turn starts another worker.',
      ],
      ['remove', 'Ends its turns, which are interrupted, and then the worker.'],
    ] as const
  ).map(([how, about]) =>
    route(
      'POST',
      `/api/workers/:id/${how}`,
      'workers.manage',
      {
        about,
        body: z.looseObject({}),
        answer: z.object({ status: z.literal('ok') }),
        refusals: ['NOT_FOUND'],
      },
      async (request): Promise<Reply | Refusal> => {
        const name = idOf(request);
        if ((await request.app.workers?.[how](name)) === true) return { body: { status: 'ok' } };
        return refuse('NOT_FOUND', {}, `Worker not found: ${name.slice(0, 64)}`);
      },
    ),
  ),
];

async function list({ app }: HttpRequest): Promise<Reply> {
  const { workers } = app;
  const at = (ms: number): string => new Date(ms).toISOString();
  const found = (await workers?.list()) ?? [];
  return {
    body: {
      workers: await Promise.all(
        found.map(async ({ startedAt, turns, ...rest }) => ({
          ...rest,
          startedAt: at(startedAt),
          memoryBytes: await residentBytes(rest.pid),
          turns: turns.map(({ beganAt, ...turn }) => ({ ...turn, since: at(beganAt) })),
        })),
      ),
      slots: workers?.slots() ?? null,
      hosted: [...(workers?.hosted ?? [])],
    },
  };
}
