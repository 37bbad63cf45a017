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

export const engineRoutes: readonly Route[] = [
  route('GET', '/api/engines', 'engines.read', { about: 'The engines and what they offer here.', answer }, list),
];

async function list({ desk }: Call): Promise<Reply> {
  return { body: await desk.engines.list() };
}
