import { z } from 'zod';
import { connectorHealth } from '../../commands/connectors.js';
import { countSessions } from '../../commands/sessions/list-sessions.js';
import type { App } from '../../commands/app.js';
import type { Reply } from '../../commands/request.js';
import { route, type HttpRequest, type Route } from '../route.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { wholeNumber } from '../schemas.js';

/** What the status routes know of the gateway itself. */
export interface GatewayFacts {
  readonly version: string;
  readonly instance: string;
  /** On the monotonic clock. */
  readonly startedAt: number;
  readonly authRequired: boolean;
  readonly networkExposed: boolean;
  readonly port: number;
  /** What it was told to listen at, whatever config.yaml says. */
  readonly host: string;
  /** Browsers can be paired. */
  readonly pairing?: boolean;
}

export function statusRoutes(facts: GatewayFacts): readonly Route[] {
  const counts = cached(countSessions);
  return [
    route(
      'GET',
      '/api/status',
      'status.read',
      { about: 'Gateway status and component summary.', answer: status },
      readStatus,
    ),
    route(
      'GET',
      '/api/auth/state',
      'auth.state',
      {
        about: 'Whether authentication is required, and whether this caller is authenticated.',
        answer: authState,
      },
      readAuthState,
    ),
    route(
      'GET',
      '/healthz',
      'health.read',
      { about: 'Health probe: `ok`, or 503.', answer: z.string(), contentType: 'text/plain; charset=utf-8' },
      readHealth,
    ),
  ];

  async function readStatus({ app }: HttpRequest): Promise<Reply> {
    const [sessions, listed] = await Promise.all([counts(app), app.engines.list()]);
    const engines: Record<string, unknown> = { default: listed.default };
    for (const engine of Object.values(listed.engines))
      engines[engine.name] = { model: engine.defaultModel, available: engine.available };
    const uptime = Math.max(
      0,
      Math.floor((app.supervisor.environment.clock.monotonic() - facts.startedAt) / 1000),
    );
    return {
      body: {
        status: 'ok',
        version: facts.version,
        migration,
        uptime,
        port: facts.port,
        engines,
        sessions,
        connectors: await connectorStates(app),
      },
    };
  }

  function readAuthState({ authenticated, client }: HttpRequest): Reply {
    const { authRequired, networkExposed, instance, pairing } = facts;
    return {
      body: {
        authRequired,
        authenticated: authenticated || !authRequired,
        canBootstrapLocal: pairing === true && client.local,
        networkExposed,
        instance,
      },
    };
  }
}

function readHealth({ app }: HttpRequest): Reply {
  const { state, store } = app.supervisor.status;
  const well = (state === 'running' || state === 'degraded') && store.state === 'ready';
  return { status: well ? 200 : 503, body: well ? 'ok' : 'unwell' };
}

/** Public, so without details: an error's words may name hosts and accounts. */
const connectorStates = async (app: App): Promise<object> =>
  Object.fromEntries(
    (await connectorHealth(app)).map(({ name, status: state, capabilities }) => [
      name,
      { status: state, capabilities },
    ]),
  );

export const migration = { required: false, fromVersion: null, toVersion: null, versions: [] };

const status = z.object({
  status: z.literal('ok'),
  version: z.string(),
  migration: z.looseObject({ required: z.boolean() }),
  uptime: z.int().describe('seconds'),
  port: z.int(),
  engines: z
    .looseObject({ default: z.string().nullable() })
    .describe('`default`, and one member per engine: `{model, available}`.'),
  sessions: z.object({ total: z.int(), running: z.int(), active: z.int() }),
  connectors: z.looseObject({}),
});

const authState = z.object({
  authRequired: z.boolean(),
  authenticated: z.boolean(),
  canBootstrapLocal: z.boolean(),
  networkExposed: z.boolean(),
  instance: z.string(),
});

/**
 * The status route is public: however often it is asked, the sessions are counted at most once in five
 * seconds.
 */
function cached<Value>(count: (app: App) => Promise<Value>): (app: App) => Promise<Value> {
  let value: Promise<Value> | undefined;
  let at = -Infinity;
  return (app) => {
    const now = performance.now();
    if (value === undefined || now - at > 5_000) {
      at = now;
      value = count(app);
      value.catch(() => (value = undefined)); // a failure is not kept
    }
    return value;
  };
}

/** What only the home knows. */
export interface Console {
  /** The settings without secrets. */
  config(): Json;
  /** Write what differs from the settings that are shown; a refusal says what may not be changed from afar. */
  edit(given: Json): Promise<object | Refusal>;
  /** The newest lines of the log, oldest first. */
  log(linesMax: number): Promise<readonly string[]>;
}

/**
 * What consoles of this API ask for when they open, beside the specification. Settings and log are real; of
 * what does not exist here – a first-run dialogue, migrations, speech – the answer says so in a way that lets
 * them go on.
 */
export function consoleRoutes(facts: GatewayFacts, console: Console | undefined): readonly Route[] {
  if (console === undefined) return [];
  const loose = z.looseObject({});
  return [
    route(
      'GET',
      '/api/config',
      'config.read',
      {
        about: 'The settings of config.yaml with their defaults, without secrets.',
        answer: loose,
      },
      ({ authenticated }) => (authenticated ? { body: console.config() } : unknown),
    ),
    route(
      'PUT',
      '/api/config',
      'config.edit',
      {
        about:
          'Change settings of config.yaml: those sent that differ from what is shown; comments stay, and null ' +
          'restores a default. What runs programs or loosens a wall is only changed in the file: 403.',
        body: loose,
        answer: z.object({
          status: z.literal('ok'),
          changed: z.array(z.string()),
          needsRestart: z.array(z.string()).describe('Keys of `changed` that hold after a restart.'),
          config: loose,
        }),
        refusals: ['FORBIDDEN', 'CONFLICT', 'BAD_REQUEST'],
      },
      async ({ body }) => {
        const done = await console.edit(body as Json);
        return isRefusal(done) ? done : { body: done };
      },
    ),
    route(
      'GET',
      '/api/logs',
      'logs.read',
      {
        about: 'The newest lines of the log, oldest first.',
        query: logQuery,
        answer: z.object({ lines: z.array(z.string()) }),
      },
      async ({ authenticated, query }) =>
        authenticated ? { body: { lines: await console.log(query.n ?? 100) } } : unknown,
    ),
    route(
      'GET',
      '/api/instances',
      'console.read',
      {
        about: 'The known instances of Troupe: only this one.',
        answer: z.array(
          z.object({
            name: z.string(),
            host: z
              .string()
              .describe('Where it listens: may have been given at the start, over config.yaml.'),
            port: z.int(),
            running: z.literal(true),
            current: z.literal(true),
          }),
        ),
      },
      () => ({
        body: [{ name: facts.instance, host: facts.host, port: facts.port, running: true, current: true }],
      }),
    ),
    route(
      'GET',
      '/api/onboarding',
      'console.read',
      { about: 'Whether onboarding is needed: always false.', answer: onboarding },
      async ({ app }) => ({
        body: {
          needed: false,
          onboarded: true,
          sessionsCount: (await countSessions(app)).total,
          hasEmployees: (app.roster?.()?.employees.length ?? 0) > 0,
          ...portalOf(console.config()),
          operatorName: null,
          language: null,
        },
      }),
    ),
    route(
      'GET',
      '/api/instance-migration',
      'console.read',
      { about: 'Whether a migration is needed: always false.', answer: loose },
      () => ({ body: migration }),
    ),
    route(
      'GET',
      '/api/features',
      'console.read',
      {
        about: 'Features of this API that this server does not provide.',
        answer: z.record(z.string(), z.literal(false)),
      },
      () => ({ body: { notes: false, speech: false, talk: false, terminal: false } }),
    ),
    route(
      'GET',
      '/api/stt/status',
      'console.read',
      { about: 'Speech to text: not supported.', answer: loose },
      () => ({ body: { available: false, model: null, downloading: false, progress: 0, languages: [] } }),
    ),
  ];
}

const unknown = refuse('UNAUTHENTICATED'); // also where reads are open: a log tells of everybody
const logQuery = z.object({ n: wholeNumber(1, 1_000).optional().describe('Default 100.') });
const onboarding = z.object({
  needed: z.literal(false),
  onboarded: z.literal(true),
  sessionsCount: z.int(),
  hasEmployees: z.boolean(),
  portalName: z.string().nullable(),
  companyName: z.string().nullable(),
  companyPrefix: z.string().nullable(),
  operatorName: z.null(),
  language: z.null(),
});

/** What the home calls itself. */
function portalOf(
  config: Json,
): Readonly<Record<'portalName' | 'companyName' | 'companyPrefix', string | null>> {
  const { portal } = config as { readonly portal?: Readonly<Record<string, string>> }; // of our own making
  const named = (member: string): string | null => portal?.[member] || null;
  return {
    portalName: named('portalName'),
    companyName: named('companyName'),
    companyPrefix: named('companyPrefix'),
  };
}
