import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AtMostOnceEffect, AtLeastOnceEffect } from '../../actors/contracts.js';
import { openLevelStore } from '../../lib/store/level.js';
import type { ActorKey, Json } from '../../machines/outputs.js';
import { callerName, operator } from '../../machines/caller.js';
import { isRefusal } from '../../machines/refusals.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { hostKinds } from './host-kinds.js';
import { hostKinds6 } from './host-kinds-6.js';

/**
 * `node host.js <home> <far side's address>`: a program that embeds a supervisor, as small as can be, with
 * just enough HTTP for the auditor. Its effects call the far side, which the auditor keeps alive.
 */
const [, , home, farSide] = process.argv;
if (home === undefined || farSide === undefined)
  throw new TypeError('usage: host.js <home> <address of the far side>');

const call = async (kind: string, key: string, input: Json, signal: AbortSignal): Promise<Json> => {
  const response = await fetch(`${farSide}/${kind}`, {
    method: 'POST',
    body: JSON.stringify({ key, input }),
    signal,
  });
  return (await response.json()) as Json;
};
const keyed: AtLeastOnceEffect<Json, Json> = {
  guarantee: 'at-least-once',
  run: (input, { key, signal }) => call('keyed', key, input, signal),
};
const fenced: AtMostOnceEffect<Json, Json> = {
  guarantee: 'at-most-once',
  async run(input, { key, signal, checkpoint: note }) {
    await note({ about: 'to call' });
    return call('fenced', key, input, signal);
  },
  recover: () => Promise.resolve({ outcome: 'unknown' }),
};

const supervisor = await createSupervisor({
  kinds: [
    ...hostKinds({ keyed, fenced }),
    ...hostKinds6((key, tag) => call('keyed', key, { tag }, AbortSignal.timeout(30_000))),
  ],
  // Every other life leaves to its thread what it may, and writes base images all the time
  store: await openLevelStore({
    directory: home,
    ...(process.pid % 2 === 0 && {
      thread: { busyBytes: -1 },
      limits: { checkpointBytes: 100_000, baseBytesMin: 300_000 },
    }),
  }),
});
const server = createServer((request, response) => {
  answer(request).then(
    ({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    (error: unknown) =>
      response
        .writeHead((error as { code?: string }).code === 'STORE_UNAVAILABLE' ? 503 : 500)
        .end(JSON.stringify({ error: String(error), code: 'INTERNAL' })),
  );
});
server.listen(0, '127.0.0.1', () =>
  console.log(`host runs at http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void supervisor.stop().then(() => process.exit(0));
});

interface Order {
  readonly spawn?: ActorKey & { readonly input: Json };
  readonly ask?: ActorKey & { readonly event: { readonly type: string } };
  /** Several actors, one commit: events for existing ones. */
  readonly plan?: readonly (ActorKey & { readonly event: { readonly type: string } })[];
  readonly view?: ActorKey;
  readonly rows?: ActorKey & { readonly collection: string; readonly after?: number };
}

async function answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const order = JSON.parse(Buffer.concat(chunks).toString()) as Order;
  const key = request.headers['idempotency-key'];
  const how =
    typeof key === 'string'
      ? { idempotency: { key, scope: callerName(operator), hash: JSON.stringify(order) } }
      : {};
  const done = await perform(order, how);
  if (isRefusal(done)) return { status: 409, body: { error: done.message, code: done.code } };
  return { status: 200, body: done };
}

async function perform(
  { spawn, ask, plan, view, rows }: Order,
  how: { idempotency?: { key: string; scope: string; hash: string } },
): Promise<unknown> {
  if (spawn !== undefined) return supervisor.spawn(spawn.kind, { id: spawn.id, input: spawn.input, ...how });
  if (ask !== undefined) return supervisor.ask(ask.kind, ask.id, ask.event, how);
  if (view !== undefined) return { view: (await supervisor.get(view.kind, view.id))?.view ?? null };
  if (rows !== undefined)
    return {
      rows: await supervisor.rows(rows, rows.collection, {
        limit: 1_000,
        ...(rows.after === undefined ? {} : { after: rows.after }),
      }),
    };
  if (plan !== undefined)
    return supervisor.transact({
      name: 'order',
      actors: plan,
      ...how,
      run: (turns) => {
        for (const { kind, id, event } of plan) turns.send({ kind, id }, event);
        return null;
      },
    });
  throw new TypeError('an order names one of spawn, ask, plan, view, rows');
}
