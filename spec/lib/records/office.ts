import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defineEngine } from '../../../actors/engines/engine.js';
import { createEngineRegistry } from '../../../actors/engines/registry.js';
import { createSessionTokens } from '../../../actors/engines/tokens.js';
import { budgetKind } from '../../../actors/kinds/budget.js';
import { fileKind } from '../../../actors/kinds/file.js';
import { homeKind } from '../../../actors/kinds/home.js';
import { sessionKind } from '../../../actors/kinds/session.js';
import { workItemKind } from '../../../actors/kinds/work-item.js';
import type { FencedHand } from '../../../actors/contracts.js';
import { createGateway } from '../../../lib/gateway/create.js';
import { layoutOf, type Layout } from '../../../lib/home/layout.js';
import { openRecords, type Records, type RecordsOptions } from '../../../lib/records/records.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/create.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { systemWorld } from '../../../lib/world.js';
import { makeClient, operatorToken, watch, type Client, type Watching } from '../gateway/fixture.js';

/** A real home with files in it, and a real gateway over it. Agents say "did it" and nothing else. */
export interface Office {
  readonly layout: Layout;
  readonly records: Records;
  readonly supervisor: Supervisor;
  readonly port: number;
  readonly operator: Client;
  client(headers?: Record<string, string>): Client;
  /** A session of its own and a client with its token. */
  agent(wish?: object): Promise<Client & { readonly sessionId: string }>;
  socket(): Promise<Watching>;
  /** Put a file below the home, with its folders. */
  put(path: string, content: string | Uint8Array): Promise<string>;
  close(): Promise<void>;
}

export async function openOffice(files: Readonly<Record<string, string>> = {}, options: Partial<RecordsOptions> = {}): Promise<Office> {
  const layout = layoutOf({ home: await mkdtemp(join(tmpdir(), 'office-')) });
  const put = async (path: string, content: string | Uint8Array): Promise<string> => {
    const full = join(layout.home, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, content);
    return full;
  };
  for (const [path, content] of Object.entries(files)) await put(path, content);
  const world = systemWorld();
  const records = await openRecords({ layout, world, root: null, ...options });
  const supervisor = await createSupervisor({ kinds: [sessionKind({ turn }), workItemKind(), homeKind(), fileKind(), budgetKind()], store: memoryStore(), world, facts: { roster: records.roster.value } });
  await records.connect(supervisor);
  const tokens = createSessionTokens();
  const gateway = await createGateway({
    supervisor, tokens, operatorToken, records,
    registry: createEngineRegistry({ engines: [pen], default: 'pen' }),
    settings: { home: layout.home, sessionRoots: [], interruptOnNewMessage: true, turnDeadlineMs: 60_000 },
  });
  const client = (headers: Record<string, string> = {}): Client => makeClient(gateway.port, headers);
  const operator = client({ authorization: `Bearer ${operatorToken}` });
  const sockets: Watching[] = [];
  return {
    layout, records, supervisor, port: gateway.port, operator, client, put,
    async agent(wish = {}) {
      const { body } = await operator.post('/api/sessions', { prompt: 'hello', ...wish });
      return { sessionId: body.id, ...client({ authorization: `Bearer ${tokens.mint(body.id)}` }) };
    },
    async socket() {
      const socket = await watch(`ws://127.0.0.1:${gateway.port}/ws`, { authorization: `Bearer ${operatorToken}` });
      sockets.push(socket);
      return socket;
    },
    async close() {
      for (const socket of sockets) socket.ws.terminate();
      await gateway.close(2_000);
      await records.close();
      await supervisor.stop({ drainMs: 2_000 });
      await rm(layout.home, { recursive: true, force: true });
    },
  };
}

const turn: FencedHand = {
  fence: true,
  async run(_input, context) {
    await context.note({ begun: true });
    return { outcome: 'succeeded', text: 'did it' };
  },
  recover: async () => ({ outcome: 'interrupted', text: '' }),
};

const model = { id: 'fine', label: 'Fine', supportsEffort: true, effortLevels: ['low', 'high'] };
const pen = defineEngine({ name: 'pen', effortMechanism: 'flag', discover: async () => ({ available: true, defaultModel: 'fine', models: [model] }), turn: () => Promise.reject(new Error('the turn hand serves')) });
