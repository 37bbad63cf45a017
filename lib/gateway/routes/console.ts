import { z } from 'zod';
import { countSessions } from '../../commands/count-sessions.js';
import type { Json } from '../../../machines/ground.js';
import { refuse } from '../../../machines/refusals.js';
import { wholeNumber } from '../shapes.js';
import { route, type Route } from '../route.js';
import { migration, type GatewayFacts } from './status.js';

/** What only the home knows. */
export interface Console {
  /** The settings without secrets. */
  config(): Json;
  /** The newest lines of the log, oldest first. */
  log(linesMax: number): Promise<readonly string[]>;
}

/**
 * What consoles of this API ask for when they open, beside the specification. Settings and log are real; of what does
 * not exist here – a first-run dialogue, migrations, speech – the answer says so in a way that lets them go on.
 */
export function consoleRoutes(facts: GatewayFacts, console: Console | undefined): readonly Route[] {
  if (console === undefined) return [];
  const loose = z.looseObject({});
  return [
    route('GET', '/api/config', 'config.read', { about: 'The settings of config.yaml with their defaults, without anything that may be secret.', answer: loose }, ({ authenticated }) => (authenticated ? { body: console.config() } : unknown)),
    route('GET', '/api/logs', 'logs.read', { about: 'The newest lines of the log, oldest first.', query: logQuery, answer: z.object({ lines: z.array(z.string()) }) }, async ({ authenticated, query }) => (authenticated ? { body: { lines: await console.log(query.n ?? 100) } } : unknown)),
    route('GET', '/api/instances', 'console.read', { about: 'The instances of Troupe that this one knows: itself.', answer: z.array(z.object({ name: z.string(), port: z.int(), running: z.literal(true), current: z.literal(true) })) }, () => ({ body: [{ name: facts.instance, port: facts.port(), running: true, current: true }] })),
    route('GET', '/api/onboarding', 'console.read', { about: 'Is a first-run dialogue due? Never: there is none.', answer: onboarding }, async ({ desk }) => ({
      body: { needed: false, onboarded: true, sessionsCount: (await countSessions(desk)).total, hasEmployees: (desk.roster?.()?.employees.length ?? 0) > 0, portalName: portalName(console.config()), operatorName: null },
    })),
    route('GET', '/api/instance-migration', 'console.read', { about: 'Must the home be migrated? Never by hand.', answer: loose }, () => ({ body: migration })),
    route('GET', '/api/features', 'console.read', { about: 'Parts of other servers of this API that are not here.', answer: z.record(z.string(), z.literal(false)) }, () => ({ body: { notes: false, speech: false, talk: false, terminal: false } })),
    route('GET', '/api/stt/status', 'console.read', { about: 'Speech to text: not here.', answer: loose }, () => ({ body: { available: false, model: null, downloading: false, progress: 0, languages: [] } })),
  ];
}

const unknown = refuse('UNAUTHENTICATED'); // also where reads are open: a log tells of everybody
const logQuery = z.object({ n: wholeNumber(1, 1_000).optional().describe('Default 100.') });
const onboarding = z.object({ needed: z.literal(false), onboarded: z.literal(true), sessionsCount: z.int(), hasEmployees: z.boolean(), portalName: z.string().nullable(), operatorName: z.null() });

function portalName(config: Json): string | null {
  const { portal } = config as { readonly portal?: { readonly portalName?: string } }; // of our own making
  return portal?.portalName ?? null;
}
