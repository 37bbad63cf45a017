/**
 * A server that embeds durable actors as Next.js apps do: route handlers over the web's own `Request` and
 * `Response`, and one supervisor for all of them, which a reload of the code in development must not open twice.
 *
 *     node next-server.js /var/lib/votes
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assign, setup } from 'xstate';
import { createSupervisor, defineKind, isRefusal, memoryStore } from 'troupe';
import { levelStore } from 'troupe/level';

// lib/troupe.ts ─ what all routes share. In a Next.js app: serverExternalPackages: ['troupe'] in next.config.
const poll = defineKind({
  kind: 'poll',
  version: 1,
  machine: setup({
    types: { context: {} as { votes: number }, events: {} as { type: 'vote' } | { type: 'close' } },
  }).createMachine({
    context: { votes: 0 },
    initial: 'open',
    states: {
      open: {
        on: { vote: { actions: assign({ votes: ({ context }) => context.votes + 1 }) }, close: 'closed' },
      },
      closed: {},
    },
  }),
  view: ({ value, context }) => ({ state: value, votes: context.votes }),
});
const open = async () =>
  createSupervisor({
    kinds: [poll],
    store: process.argv[2] === undefined ? memoryStore() : await levelStore({ directory: process.argv[2] }),
  });
const shared = globalThis as typeof globalThis & { troupe?: ReturnType<typeof open> };
const supervisor = (): ReturnType<typeof open> => (shared.troupe ??= open());

// app/polls/[id]/route.ts ─ a refusal carries the HTTP status that fits it.
const GET = async (_request: Request, id: string): Promise<Response> => {
  const found = await (await supervisor()).get('poll', id);
  return found ? Response.json(found.view) : Response.json({ error: 'Not found' }, { status: 404 });
};
const POST = async (request: Request, id: string): Promise<Response> => {
  const { type } = (await request.json()) as { type: 'vote' | 'close' };
  const troupe = await supervisor();
  if ((await troupe.get('poll', id)) === undefined) await troupe.spawn('poll', { id }); // two at once: one EXISTS
  const answer = await troupe.ask('poll', id, { type });
  return isRefusal(answer)
    ? Response.json({ error: answer.message, code: answer.code }, { status: answer.status })
    : Response.json(answer.view);
};

// Next's part: requests of Node become requests of the web.
async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/' } = incoming;
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = method === 'GET' ? {} : { body: Buffer.concat(chunks) };
  const request = new Request(`http://localhost${url}`, { method, ...body });
  const response = await (method === 'POST' ? POST : GET)(request, url.split('/').at(-1) ?? '');
  outgoing.writeHead(response.status, { 'content-type': 'application/json' }).end(await response.text());
}
const server = createServer((incoming, outgoing) => void serve(incoming, outgoing)).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/polls/lunch`;

for (const type of ['vote', 'vote', 'close', 'vote']) {
  const response = await fetch(at, { method: 'POST', body: JSON.stringify({ type }) });
  console.log(response.status, await response.text());
}
console.log(await (await fetch(at)).text());

server.close();
await (await supervisor()).stop();
