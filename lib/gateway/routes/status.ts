import { z } from 'zod';
import { connectorHealth } from '../../commands/connectors.js';
import { countSessions } from '../../commands/count-sessions.js';
import type { Desk } from '../../commands/desk.js';
import { route, type Call, type Reply, type Route } from '../route.js';

/** What the status routes know of the gateway itself. */
export interface GatewayFacts {
  readonly version: string;
  readonly instance: string;
  /** On the steady clock. */
  readonly startedAt: number;
  readonly authRequired: boolean;
  readonly networkExposed: boolean;
  readonly port: () => number;
  /** Browsers can be paired. */
  readonly pairing?: boolean;
}

export function statusRoutes(facts: GatewayFacts): readonly Route[] {
  const counts = cached(countSessions);
  return [
    route('GET', '/api/status', 'status.read', { about: 'Is it up, and what is in it.', answer: status }, readStatus),
    route('GET', '/api/auth/state', 'auth.state', { about: 'Must a caller authenticate, and did this one?', answer: authState }, readAuthState),
    route('GET', '/healthz', 'health.read', { about: 'For probes: `ok`, or 503.', answer: z.string(), contentType: 'text/plain; charset=utf-8' }, readHealth),
  ];

  async function readStatus({ desk }: Call): Promise<Reply> {
    const [sessions, listed] = await Promise.all([counts(desk), desk.engines.list()]);
    const engines: Record<string, unknown> = { default: listed.default };
    for (const engine of Object.values(listed.engines)) engines[engine.name] = { model: engine.defaultModel, available: engine.available };
    const uptime = Math.max(0, Math.floor((desk.supervisor.world.steady() - facts.startedAt) / 1000));
    return { body: { status: 'ok', version: facts.version, migration, uptime, port: facts.port(), engines, sessions, connectors: await connectorStates(desk) } };
  }

  function readAuthState({ authenticated, visitor }: Call): Reply {
    const { authRequired, networkExposed, instance, pairing } = facts;
    return { body: { authRequired, authenticated: authenticated || !authRequired, canBootstrapLocal: pairing === true && visitor.local, networkExposed, instance } };
  }
}

function readHealth({ desk }: Call): Reply {
  const { state, store } = desk.supervisor.status;
  const well = (state === 'running' || state === 'degraded') && store.state === 'ready';
  return { status: well ? 200 : 503, body: well ? 'ok' : 'unwell' };
}

/** Public, so without details: an error's words may name hosts and accounts. */
const connectorStates = async (desk: Desk): Promise<object> => Object.fromEntries((await connectorHealth(desk)).map(({ name, status: state, capabilities }) => [name, { status: state, capabilities }]));

export const migration = { required: false, fromVersion: null, toVersion: null, versions: [] };

const status = z.object({
  status: z.literal('ok'),
  version: z.string(),
  migration: z.looseObject({ required: z.boolean() }),
  uptime: z.int().describe('seconds'),
  port: z.int(),
  engines: z.looseObject({ default: z.string().nullable() }).describe('Beside `default`, one member per engine: `{model, available}`.'),
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

/** The status route is public: however often it is asked, the sessions are counted at most once in five seconds. */
function cached<Value>(count: (desk: Desk) => Promise<Value>): (desk: Desk) => Promise<Value> {
  let value: Promise<Value> | undefined;
  let at = -Infinity;
  return (desk) => {
    const now = performance.now();
    if (value === undefined || now - at > 5_000) {
      at = now;
      value = count(desk);
      value.catch(() => (value = undefined)); // a failure is not kept
    }
    return value;
  };
}
