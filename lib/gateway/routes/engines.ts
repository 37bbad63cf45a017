import { z } from 'zod';
import { route, type HttpRequest, type Route } from '../route.js';
import type { Reply } from '../../commands/request.js';

const engine = z
  .looseObject({
    name: z.string(),
    available: z
      .boolean()
      .describe('The executable was found; does not mean that it is logged in at its provider.'),
    defaultModel: z.string().nullable(),
    effortMechanism: z.string(),
    models: z.array(
      z.looseObject({
        id: z.string(),
        label: z.string(),
        supportsEffort: z.boolean(),
        effortLevels: z.array(z.string()),
      }),
    ),
    access: z
      .object({
        state: z.enum(['ready', 'missing', 'unknown']),
        what: z.string(),
        remedy: z.string().optional(),
        notPassed: z.array(z.string()).describe('Keys that the gateway has and does not pass on, by name.'),
        absent: z.array(z.string()).describe('Variables that the settings name and the gateway lacks.'),
      })
      .optional()
      .describe('How the program gets in at its provider: files and names, never values. For people alone.'),
  })
  .meta({ id: 'Engine' });

const answer = z.object({ default: z.string().nullable(), engines: z.record(z.string(), engine) });

const limitWindow = z.object({
  name: z.string(),
  usedPercent: z.number().nullable(),
  windowDurationMins: z.number().nullable(),
  resetsAt: z.number().nullable().describe('Epoch seconds.'),
  resetsAtIso: z.string().nullable(),
});

const engineLimits = z
  .looseObject({
    name: z.string(),
    available: z.boolean(),
    status: z
      .enum(['live', 'cached', 'static', 'unsupported', 'error'])
      .describe(
        'live: reported within five minutes. cached: reported earlier. static: not reported yet. ' +
          'unsupported: never reported. error: not installed, or the report failed.',
      ),
    source: z.string(),
    refreshedAt: z
      .string()
      .describe('When a turn last received a report; without one, the time of this answer.'),
    windows: z.array(limitWindow).optional(),
    stale: z.boolean().optional(),
  })
  .meta({ id: 'EngineLimits' });

const limitsQuery = z.object({ engine: z.string().min(1).max(64).optional() });
const limitsAnswer = z.object({
  generatedAt: z.string(),
  default: z.string().nullable(),
  engines: z.record(z.string(), engineLimits),
});

const nothing = z.looseObject({});

export const engineRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/engines',
    'engines.read',
    { about: 'The engines, with availability and models.', answer },
    list,
  ),
  route(
    'GET',
    '/api/engine-limits',
    'engines.limits',
    {
      about:
        "The providers' limits as reported to past turns: observations, never a cap. An unknown " +
        'engine is `unsupported`.',
      query: limitsQuery,
      answer: limitsAnswer,
    },
    limits,
  ),
  route(
    'POST',
    '/api/engines/refresh',
    'engines.refresh',
    { about: 'Discover the engines again; returns what was found.', body: nothing, answer },
    (request) => {
      request.app.engines.refresh();
      return list(request);
    },
  ),
  route(
    'POST',
    '/api/engine-limits/refresh',
    'engines.refresh',
    {
      about: "Discover the engines again; returns the providers' limits.",
      query: limitsQuery,
      body: nothing,
      answer: limitsAnswer,
    },
    (request) => {
      request.app.engines.refresh();
      return limits(request);
    },
  ),
];

async function limits({
  app,
  query,
}: Pick<HttpRequest<unknown, z.infer<typeof limitsQuery>>, 'app' | 'query'>): Promise<Reply> {
  const generatedAt = new Date(app.supervisor.environment.clock.now()).toISOString();
  const { default: usual, engines } = await app.engines.limits(query.engine);
  return {
    body: {
      generatedAt,
      default: usual,
      engines: Object.fromEntries(
        Object.entries(engines).map(([name, limits]) => [name, { refreshedAt: generatedAt, ...limits }]),
      ),
    },
  };
}

/** How programs log in is for people: agents have no use for places of logins and names of keys. */
async function list({ app, caller }: Pick<HttpRequest, 'app' | 'caller'>): Promise<Reply> {
  const all = await app.engines.list();
  if (caller.type !== 'session') return { body: all };
  const isShown = ([member]: readonly [string, unknown]): boolean => member !== 'access';
  const shown = (one: object): object => Object.fromEntries(Object.entries(one).filter(isShown));
  const engines = Object.entries(all.engines).map(([name, one]) => [name, shown(one)]);
  return { body: { ...all, engines: Object.fromEntries(engines) as unknown } };
}
