import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defineEngine } from '../../../actors/engines/engine.js';
import { createEngineRegistry } from '../../../actors/engines/registry.js';
import { createSessionTokens } from '../../../actors/engines/tokens.js';
import { budgetKind } from '../../../actors/budget/kind.js';
import { fileKind } from '../../../actors/file/kind.js';
import { homeKind } from '../../../actors/home/kind.js';
import { deviceEffect, pairingCodeKind } from '../../../actors/pairing-code/kind.js';
import { pairingKind } from '../../../actors/pairing/kind.js';
import { clearingEffect, proofEffect } from '../../../actors/pairing/proof.js';
import { sessionKind } from '../../../actors/session/kind.js';
import { workItemKind } from '../../../actors/work-item/kind.js';
import type { AtMostOnceEffect } from '../../../actors/contracts.js';
import type { TurnOutput } from '../../../machines/session/context.js';
import { createGateway, type GatewayOptions } from '../../../lib/gateway/server.js';
import { layoutOf, type Layout } from '../../../lib/home/layout.js';
import { openRecords, type Records, type RecordsOptions } from '../../../lib/records/records.js';
import type { Kind } from '../../../actors/contracts.js';
import type { Store } from '../../../lib/store/contract.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { notifierKind } from '../../../actors/notifier/kind.js';
import { messageEffect } from '../../../actors/notifier/effect.js';
import { createConnectorLinks } from '../../../actors/connector/links.js';
import { createConnectorRegistry } from '../../../actors/connectors/registry.js';
import type { App } from '../../../lib/commands/app.js';
import { sendToBrowser } from '../../../lib/commands/notifications/browser-push.js';
import { followWaiting } from '../../../lib/commands/notifications/follow-waiting.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { systemEnvironment } from '../../../lib/environment.js';
import {
  makeClient,
  operatorToken,
  watch,
  type Answer,
  type Client,
  type Watching,
} from '../gateway/fixture.js';

/** A real home with files in it, and a real gateway over it. Agents say "did it" and nothing else. */
export interface Office {
  readonly layout: Layout;
  readonly records: Records;
  readonly supervisor: Supervisor;
  readonly port: number;
  readonly operator: Client;
  client(headers?: Record<string, string>): Client;
  /** A session of its own and a client with its token. */
  agent(
    wish?: object,
  ): Promise<Client & { readonly sessionId: string; readonly headers: Record<string, string> }>;
  socket(headers?: Record<string, string>): Promise<Watching>;
  /**
   * The answer of the whole way to a paired browser, and a client that is it: cookies, and an Origin of this
   * gateway.
   */
  browser(): Promise<Browser>;
  /** Put a file below the home, with its folders. */
  put(path: string, content: string | Uint8Array): Promise<string>;
  close(): Promise<void>;
}

export interface Browser extends Client {
  readonly deviceId: string;
  readonly cookie: string;
  readonly headers: Record<string, string>;
}

export interface OfficeOptions extends Partial<RecordsOptions> {
  readonly store?: Store;
  readonly gateway?: Partial<GatewayOptions>;
  /** What waits is sent to paired browsers, at once. */
  readonly notifies?: true;
}

export async function openOffice(
  files: Readonly<Record<string, string>> = {},
  options: OfficeOptions = {},
): Promise<Office> {
  const layout = options.layout ?? layoutOf({ home: await mkdtemp(join(tmpdir(), 'office-')) });
  const put = async (path: string, content: string | Uint8Array): Promise<string> => {
    const full = join(layout.home, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, content);
    return full;
  };
  for (const [path, content] of Object.entries(files)) await put(path, content);
  const environment = options.environment ?? systemEnvironment();
  const { store, gateway: more, notifies, ...kept } = options;
  const records = await openRecords({ root: null, ...kept, layout, environment });
  const pairing = [
    pairingKind({ proof: proofEffect(layout), clearing: clearingEffect(layout) }),
    pairingCodeKind({ device: deviceEffect(records.devices) }),
  ] as readonly Kind[]; // a list knows only that they are kinds
  const notifier = notifierKind({
    message: messageEffect({
      links: createConnectorLinks(createConnectorRegistry({ connectors: [], instances: () => [] })),
      folder: layout.home,
      settings: () => sentAtOnce,
      push: (device, message, { signal }) => sendToBrowser(app, device, message, signal),
    }),
  }) as Kind;
  const notifications = followWaiting((error) => console.error(error));
  const supervisor = await createSupervisor({
    kinds: [
      sessionKind({ turn }),
      workItemKind(),
      homeKind(),
      fileKind(),
      budgetKind(),
      ...pairing,
      ...(notifies === true ? [notifier] : []),
    ],
    store: store ?? memoryStore(),
    environment,
    facts: { roster: records.roster.value },
  });
  await records.connect(supervisor);
  const tokens = createSessionTokens();
  const app = {
    supervisor,
    records,
    roster: () => records.roster.value,
    engines: createEngineRegistry({ engines: [pen], default: 'pen' }),
    settings: {
      home: layout.home,
      sessionRoots: [],
      interruptOnNewMessage: true,
      turnDeadlineMs: 60_000,
      ...(notifies === true && { notify: sentAtOnce }),
    },
    ...(notifies === true && { notifications }),
  } as unknown as App; // which kinds are run the options say
  const gateway = await createGateway({ operatorToken, ...more, instance: { tokens, app } });
  if (notifies === true) await notifications.poll(app);
  const client = (headers: Record<string, string> = {}): Client => makeClient(gateway.port, headers);
  const operator = client({ authorization: `Bearer ${operatorToken}` });
  const sockets: Watching[] = [];
  return {
    layout,
    records,
    supervisor,
    port: gateway.port,
    operator,
    client,
    put,
    async agent(wish = {}) {
      const { body } = await operator.post('/api/sessions', { prompt: 'hello', ...wish });
      const headers = { authorization: `Bearer ${tokens.mint(body.id)}` };
      return { sessionId: body.id, headers, ...client(headers) };
    },
    async browser() {
      const {
        body: { challengeId, nonce, path },
      } = await client().post('/api/auth/pairing-challenges');
      await writeFile(path, nonce, { mode: 0o600 });
      const {
        body: { code },
      } = await client().post('/api/auth/pairing-codes', { challengeId });
      const paired = await client().post('/api/auth/pair', { code });
      const cookie = cookiesOf(paired);
      const headers = { cookie, origin: `http://127.0.0.1:${gateway.port}` };
      return { ...client(headers), deviceId: paired.body.device.id as string, cookie, headers };
    },
    async socket(headers = { authorization: `Bearer ${operatorToken}` }) {
      const socket = await watch(`ws://127.0.0.1:${gateway.port}/ws`, headers);
      sockets.push(socket);
      return socket;
    },
    async close() {
      for (const socket of sockets) socket.ws.terminate();
      notifications.close();
      await gateway.close(2_000);
      await records.close();
      await supervisor.stop({ drainMs: 2_000 });
      await rm(layout.home, { recursive: true, force: true });
    },
  };
}

const sentAtOnce = {
  to: [],
  command: null,
  push: true,
  what: [],
  afterSeconds: 0,
  timeoutSeconds: 30,
  url: null,
};

/** What a browser would send back. */
export const cookiesOf = ({ headers }: Answer): string =>
  ((headers['set-cookie'] ?? []) as string[]).map((cookie) => cookie.split(';', 1)[0]).join('; ');

const turn: AtMostOnceEffect<unknown, TurnOutput> = {
  guarantee: 'at-most-once',
  async run(_input, context) {
    await context.checkpoint({ begun: true });
    return { outcome: 'succeeded', text: 'did it' };
  },
  recover: async () => ({ outcome: 'interrupted', text: '' }),
};

const model = { id: 'fine', label: 'Fine', supportsEffort: true, effortLevels: ['low', 'high'] };
const pen = defineEngine({
  name: 'pen',
  effortMechanism: 'flag',
  discover: async () => ({ available: true, defaultModel: 'fine', models: [model] }),
  access: async () => ({ state: 'ready', what: 'login in ~/.pen', notPassed: [], absent: [] }),
  turn: () => Promise.reject(new Error('the turn hand serves')),
});
