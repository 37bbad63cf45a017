import { request } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { defineEngine, type Engine } from '../../../actors/engines/engine.js';
import { createEngineRegistry } from '../../../actors/engines/registry.js';
import { createSessionTokens, type SessionTokens } from '../../../actors/engines/tokens.js';
import type { AtMostOnceEffect, Kind } from '../../../actors/contracts.js';
import type { TurnOutput } from '../../../machines/session/context.js';
import { heldDecisionKind } from '../../../actors/held-decision/kind.js';
import type { CarryOutInput } from '../../../machines/held-decision/machine.js';
import { carryOutDecision } from '../../../lib/gateway/decide-waiting.js';
import { postOnceServed } from '../../../lib/gateway/in-process.js';
import { sessionKind } from '../../../actors/session/kind.js';
import { workItemKind } from '../../../actors/work-item/kind.js';
import { workflowRunKind } from '../../../actors/workflow-run/kind.js';
import type { AppParts } from '../../../lib/commands/app.js';
import { keysOf } from '../../../lib/commands/workflows/triggers.js';
import { workflowPorts } from '../../../lib/commands/workflow-runs/ports.js';
import { workflowKind } from '../../../actors/workflow/kind.js';
import { createGateway, type Gateway, type GatewayOptions } from '../../../lib/gateway/server.js';
import { evidenceEffect } from '../../../lib/records/evidence/evidence-effect.js';
import { memoryStore } from '../../../lib/store/memory.js';
import type { Store } from '../../../lib/store/contract.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import type { Environment } from '../../../lib/environment.js';

/**
 * A real gateway over the real kernel and kinds, on a free port of loopback. Only the agent is made up: its
 * turn says "did: <prompt>", fails when the prompt says `fail`, and with `hang` goes on until it is
 * interrupted; `stream` lets it say something while it works.
 */
export interface House {
  readonly gateway: Gateway;
  readonly supervisor: Supervisor;
  readonly tokens: SessionTokens;
  readonly home: string;
  readonly operator: Client;
  /** With an agent's own token. */
  agent(sessionId: string): Client;
  client(headers?: Record<string, string>): Client;
  socket(path: string, headers?: Record<string, string>): Promise<Watching>;
  close(): Promise<void>;
}

/** Far more than the buffers of both ends of a loopback connection hold. */
export const floodFrames = 400;

export const operatorToken = 'operator-token-of-43-characters-aaaaaaaaaaaa';

export const roster = {
  employees: [
    { name: 'chief', rank: 'executive', department: 'board', reportsTo: null },
    { name: 'bob', rank: 'manager', department: 'build', reportsTo: 'chief' },
    { name: 'ann', rank: 'employee', department: 'build', reportsTo: 'bob', engine: 'pen' },
    { name: 'cat', rank: 'employee', department: 'sales', reportsTo: 'chief' },
  ],
};

export async function openHouse(
  options: Partial<GatewayOptions> &
    Partial<AppParts> & {
      store?: Store;
      withRoster?: boolean;
      environment?: Environment;
      kinds?: readonly Kind[];
      /** Decisions can be held. */
      holds?: true;
    } = {},
): Promise<House> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-'));
  const people = options.withRoster ? roster : undefined;
  const parts: AppParts = {
    engines: createEngineRegistry({ engines: [pen, ghost], default: 'pen' }),
    settings: {
      home,
      sessionRoots: [home],
      interruptOnNewMessage: true,
      turnDeadlineMs: 60_000,
      companyName: 'Acme Works',
    },
    keyFor: keysOf(operatorToken),
    ...partsOf(options),
    ...(people && { roster: () => people }),
  };
  const { post, served } = postOnceServed();
  const holding = (): Kind =>
    heldDecisionKind({
      decide: {
        guarantee: 'at-least-once',
        run: (held: CarryOutInput, { supervisor }) => carryOutDecision({ ...parts, supervisor }, post, held),
      },
    }) as Kind;
  const supervisor = await createSupervisor({
    kinds: [
      sessionKind({ turn: turnEffect }),
      workItemKind(),
      workflowKind(options.evidence ? { evidence: evidenceEffect(options.evidence) } : {}),
      workflowRunKind({ ports: ({ supervisor }) => workflowPorts({ ...parts, supervisor }) }),
      ...(options.kinds ?? []),
      ...(options.holds ? [holding()] : []),
    ],
    store: options.store ?? memoryStore(),
    ...(options.environment && { environment: options.environment }),
    ...(people && { facts: { roster: people } }),
  });
  const tokens = createSessionTokens();
  const gateway = await createGateway({
    operatorToken,
    ...options,
    instance: { tokens, app: { ...parts, supervisor } },
  }).catch(async (error: unknown) => {
    await supervisor.stop();
    throw error;
  });
  served(gateway.post);
  const client = (headers: Record<string, string> = {}): Client => makeClient(gateway.port, headers);
  const sockets: Watching[] = [];
  return {
    gateway,
    supervisor,
    tokens,
    home,
    client,
    operator: client({ authorization: `Bearer ${operatorToken}` }),
    agent: (sessionId) => client({ authorization: `Bearer ${tokens.mint(sessionId)}` }),
    async socket(path, headers = { authorization: `Bearer ${operatorToken}` }) {
      const socket = await watch(`ws://127.0.0.1:${gateway.port}${path}`, headers);
      sockets.push(socket);
      return socket;
    },
    async close() {
      for (const socket of sockets) socket.ws.terminate();
      await gateway.close(2_000);
      await supervisor.stop({ drainMs: 2_000 });
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Of all that a spec gives, what belongs to the app. */
function partsOf({
  engines,
  settings,
  records,
  roster = records && (() => records.roster.value),
  connectors,
  evidence,
  subscribers,
  reviews,
  workers,
}: Partial<AppParts>): Partial<AppParts> {
  const given = { engines, settings, records, roster, connectors, evidence, subscribers, reviews, workers };
  return Object.fromEntries(Object.entries(given).filter(([, part]) => part !== undefined));
}

const turnEffect: AtMostOnceEffect<unknown, TurnOutput> = {
  guarantee: 'at-most-once',
  async run(_input: unknown, context) {
    const last = (await context.rows('messages', { last: 1 }))[0] as { content?: string } | undefined;
    const prompt = last?.content ?? '';
    await context.checkpoint({ begun: true });
    for (let n = 0; prompt === 'flood' && n < floodFrames; n++) {
      context.progress('session:delta', {
        sessionId: context.actor.id,
        type: 'text',
        content: 'x'.repeat(60_000),
      });
      await new Promise((resolve) => setImmediate(resolve)); // who reads can keep up
    }
    if (prompt.includes('stream'))
      context.progress('session:delta', { sessionId: context.actor.id, type: 'text', content: 'did' });
    if (!prompt.includes('hang'))
      return prompt.includes('fail')
        ? { outcome: 'failed', text: '', error: 'It broke.' }
        : { outcome: 'succeeded', text: `did: ${prompt}` };
    await new Promise<void>((resolve) =>
      context.signal.aborted ? resolve() : context.signal.addEventListener('abort', () => resolve()),
    );
    return { outcome: 'interrupted', text: '' };
  },
  recover: async () => ({ outcome: 'interrupted', text: '' }),
};

const model = { id: 'fine', label: 'Fine', supportsEffort: true, effortLevels: ['low', 'high'] };
const never: Engine['turn'] = () => Promise.reject(new Error('the turn hand of the fixture serves'));
const pen = defineEngine({
  name: 'pen',
  effortMechanism: 'flag',
  discover: async () => ({ available: true, defaultModel: 'fine', models: [model] }),
  turn: never,
});
const ghost = defineEngine({
  name: 'ghost',
  effortMechanism: 'none',
  discover: async () => ({
    available: false,
    reason: 'Its program was not found.',
    remedy: 'Install ghost.',
    defaultModel: null,
    models: [],
  }),
  turn: never,
});

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON. */
  readonly body: any; // what a foreign client sees is unknown to us on purpose
}

export interface Client {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export function makeClient(port: number, standing: Record<string, string>): Client {
  const call: Client['call'] = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const bytes =
        body === undefined
          ? undefined
          : Buffer.isBuffer(body)
            ? body
            : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          method,
          path,
          agent: false,
          headers: {
            ...(bytes && { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
            ...standing,
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json');
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              body: isJson && text !== '' ? JSON.parse(text) : undefined,
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(bytes);
    });
  return {
    call,
    get: (path, headers) => call('GET', path, undefined, headers),
    post: (path, body, headers) => call('POST', path, body ?? {}, headers),
  };
}

export interface WatchedFrame {
  readonly seq: number | null;
  readonly event: string;
  readonly payload: any;
  readonly ts?: number;
  readonly last?: true;
}

export interface Watching {
  readonly ws: WebSocket;
  /** All frames so far. */
  readonly frames: readonly WatchedFrame[];
  /** The first frame, so far or to come, that satisfies the test. */
  until(test: (frame: WatchedFrame) => boolean): Promise<WatchedFrame>;
  readonly closed: Promise<number>;
}

/** Rejects with `status` when the upgrade is refused. */
export function watch(url: string, headers: Record<string, string>): Promise<Watching> {
  const ws = new WebSocket(url, { headers });
  const frames: WatchedFrame[] = [];
  const waiting = new Set<() => void>();
  const closed = new Promise<number>((resolve) => ws.on('close', (code) => resolve(code)));
  ws.on('message', (data) => {
    frames.push(JSON.parse(String(data)) as WatchedFrame);
    for (const look of [...waiting]) look();
  });
  const until: Watching['until'] = (test) =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = frames.find(test);
        if (!found) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return new Promise((resolve, reject) => {
    ws.on('open', () => resolve({ ws, frames, until, closed }));
    ws.on('unexpected-response', (_request, response) => {
      response.resume();
      ws.terminate();
      reject(
        Object.assign(new Error(`refused with ${response.statusCode}`), { status: response.statusCode }),
      );
    });
    ws.on('error', reject);
  });
}

/** Ask until the answer satisfies the test: for what a client can only poll for. */
export async function poll<Got>(ask: () => Promise<Got>, test: (answer: Got) => boolean): Promise<Got> {
  for (let tries = 0; tries < 20_000; tries++) {
    const answer = await ask();
    if (test(answer)) return answer;
  }
  throw new Error('what was polled for never came');
}
