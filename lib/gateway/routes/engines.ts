import { z } from 'zod';
import { route, type Call, type Reply, type Route } from '../route.js';

const engine = z.looseObject({
  name: z.string(),
  available: z.boolean().describe('The executable was found; says nothing about a login at a provider.'),
  defaultModel: z.string().nullable(),
  effortMechanism: z.string(),
  models: z.array(z.looseObject({ id: z.string(), label: z.string(), supportsEffort: z.boolean(), effortLevels: z.array(z.string()) })),
}).meta({ id: 'Engine' });

const answer = z.object({ default: z.string().nullable(), engines: z.record(z.string(), engine) });

const limitWindow = z.object({ name: z.string(), usedPercent: z.number().nullable(), windowDurationMins: z.number().nullable(), resetsAt: z.number().nullable().describe('Epoch seconds.'), resetsAtIso: z.string().nullable() });

const engineLimits = z.looseObject({
  name: z.string(),
  available: z.boolean(),
  status: z.enum(['live', 'cached', 'static', 'unsupported', 'error']).describe('live: told within five minutes. cached: told earlier. static: nothing was told yet. unsupported: it never tells. error: it is not here, or cannot say.'),
  source: z.string(),
  refreshedAt: z.string().describe('When a turn was last told; where none was, when this was made.'),
  windows: z.array(limitWindow).optional(),
  stale: z.boolean().optional(),
}).meta({ id: 'EngineLimits' });

const limitsQuery = z.object({ engine: z.string().min(1).max(64).optional() });
const limitsAnswer = z.object({ generatedAt: z.string(), default: z.string().nullable(), engines: z.record(z.string(), engineLimits) });

export const engineRoutes: readonly Route[] = [
  route('GET', '/api/engines', 'engines.read', { about: 'The engines and what they offer here.', answer }, list),
  route('GET', '/api/engine-limits', 'engines.limits', { about: 'What past turns were told of the providers\' limits: observations, never a cap. An unknown engine is `unsupported`.', query: limitsQuery, answer: limitsAnswer }, limits),
];

async function limits({ desk, query }: Call<unknown, z.infer<typeof limitsQuery>>): Promise<Reply> {
  const generatedAt = new Date(desk.supervisor.world.now()).toISOString();
  const { default: usual, engines } = await desk.engines.limits(query.engine);
  return { body: { generatedAt, default: usual, engines: Object.fromEntries(Object.entries(engines).map(([name, told]) => [name, { refreshedAt: generatedAt, ...told }])) } };
}

async function list({ desk }: Call): Promise<Reply> {
  return { body: await desk.engines.list() };
}
