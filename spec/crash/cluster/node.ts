import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openPostgresStore } from '../../../lib/store/postgres/postgres.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { isRefusal } from '../../../machines/refusals.js';
import { counterKind } from '../../fixtures/kinds.js';

/**
 * `node node.js <store> <name>`: one node of a cluster. It waits until it owns the home, then counts what it is told
 * to over HTTP; where it loses the home it ends, and the one who started it may start it again.
 */
const [, , url = '', name = ''] = process.argv;
const store = await openPostgresStore({ url, node: name, onOwned: () => new AbortController().signal });
const supervisor = await createSupervisor({
  kinds: [counterKind()],
  store,
  onLost: () => process.exit(3),
});

interface Order {
  readonly id: string;
  /** Count one, once. Absent: only say how far it is. */
  readonly key?: string;
}

async function perform({ id, key }: Order): Promise<unknown> {
  if (key === undefined) return { view: (await supervisor.get('counter', id))?.view ?? null };
  const idempotency = { key, scope: 'cluster', hash: key };
  if ((await supervisor.get('counter', id)) === undefined) await supervisor.spawn('counter', { id });
  const done = await supervisor.ask('counter', id, { type: 'add', n: 1 }, { idempotency });
  if (isRefusal(done)) throw new Error(done.code);
  return { view: done.view };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const server = createServer((request, response) => {
  textOf(request)
    .then((text) => perform(JSON.parse(text) as Order))
    .then(
      (done) => response.writeHead(200).end(JSON.stringify(done)),
      (error: unknown) => response.writeHead(503).end(String(error)),
    );
});
server.listen(0, '127.0.0.1', () =>
  console.log(
    `owns the home, epoch ${store.epoch}, at http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  ),
);
