/**
 * A gateway with an engine and a connector of your own: the task is given over HTTP, the engine answers it, and
 * the answer goes out through the connector.
 *
 *     node own-gateway.js
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineEngine } from 'troupe/agents';
import { createClient, isRefusal } from 'troupe/client';
import { defineConnector } from 'troupe/connectors';
import { startInstance } from 'troupe/gateway';

// It works inside of this program; `examples/own-engine.ts` starts one of its own.
const echo = defineEngine({
  name: 'echo',
  effortMechanism: 'none',
  isInProcess: true,
  discover: async () => ({ available: true, defaultModel: null, models: [] }),
  async turn({ prompt }, io) {
    const text = prompt.toUpperCase();
    io.report({ type: 'text', text }); // streamed to watchers at once
    return { outcome: 'succeeded', text };
  },
});

const sent: string[] = [];
const board = defineConnector({
  type: 'board',
  capabilities: { threading: false, messageEdits: false, reactions: false, attachments: false },
  open: async () => ({
    send: async ({ channel, text, key }) => {
      sent.push(`[${channel}] ${text}`);
      return { outcome: 'sent', messageId: key };
    },
    probe: async () => undefined,
    close: async () => undefined,
  }),
});

const home = await mkdtemp(join(tmpdir(), 'troupe-example-'));
await writeFile(
  join(home, 'config.yaml'),
  'engines: { default: echo }\nconnectors: { instances: [{ name: kitchen, type: board }] }\n',
);
const instance = await startInstance({ home, port: 0, engines: [echo], connectors: [board] });
const { url, token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as {
  url: string;
  token: string;
};
const client = createClient({ url, token });

const run = await client.sessions.run('milk is out');
if (isRefusal(run)) throw new Error(run.message);
const { status, text } = await run.answer();
console.log(status, text);

// The link is opened in the background; until it runs, a delivery is refused
for await (const { payload } of client.events({ since: 0, kinds: ['connector'] }))
  if (payload['connector'] === 'kitchen' && payload['status'] === 'running') break;
const delivery = await client.post('/api/connectors/{name}/send', {
  params: { path: { name: 'kitchen' } },
  body: { channel: 'fridge', text },
});
console.log(isRefusal(delivery) ? delivery.message : delivery.status, sent.join());

await instance.close();
await rm(home, { recursive: true });
