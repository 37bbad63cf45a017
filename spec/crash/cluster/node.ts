import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { homeStatus } from '../../../lib/store/postgres/nodes.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { AtMostOnceEffect } from '../../../actors/contracts.js';
import type { Json } from '../../../machines/outputs.js';
import { clusterKinds } from './kinds.js';

/**
 * `node node.js <home> <store> <port of the gateway> <port of the campaign> <journal>`: a whole gateway that waits
 * until it owns the home, serves, and waits again where it has lost it. Beside it a port by which the campaign counts.
 */
const [, , home = '', store = '', gatewayPort = '', countingPort = '', journal = ''] = process.argv;
let served: { readonly instance: Instance; readonly epoch: number } | undefined;

const note = (what: string, key: string): void =>
  appendFileSync(journal, `${JSON.stringify({ what, key, node: process.env['SVC_NODE'] })}\n`);

/** Acts for a while; what it did is in the journal, whatever becomes of this process. */
const act: AtMostOnceEffect<Json, Json> = {
  guarantee: 'at-most-once',
  async run(_input, { key, signal, checkpoint }) {
    await checkpoint({ about: 'to act' });
    note('began', key);
    await wait(300, undefined, { signal });
    note('ended', key);
    return 'done';
  },
  recover(_input, _note, { key }) {
    note('recovered', key);
    return Promise.resolve('unknown');
  },
};

interface Order {
  readonly id: string;
  readonly kind: 'tally' | 'job';
  /** Do it, once. Absent: only say how it stands. */
  readonly key?: string;
}

async function perform({ id, kind, key }: Order): Promise<unknown> {
  if (served === undefined) throw new Error('not the owner');
  const { instance, epoch } = served;
  const { supervisor } = instance.app;
  if (key === undefined) return { epoch, view: (await supervisor.get(kind, id))?.view ?? null };
  const idempotency = { key, scope: 'cluster', hash: key };
  if (kind === 'job') {
    const made = await supervisor.spawn('job', { id, idempotency });
    if (isRefusal(made) && made.code !== 'EXISTS') throw new Error(made.code);
    return { epoch, view: null };
  }
  if ((await supervisor.get('tally', id)) === undefined) await supervisor.spawn('tally', { id });
  const done = await supervisor.ask('tally', id, { type: 'add', epoch }, { idempotency });
  if (isRefusal(done)) throw new Error(done.code);
  return { epoch, view: done.view, isReplay: done.replayed === true };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

createServer((request, response) => {
  textOf(request)
    .then((text) => perform(JSON.parse(text) as Order))
    .then(
      (done) => response.writeHead(200).end(JSON.stringify(done)),
      (error: unknown) => response.writeHead(503).end(String(error)),
    );
}).listen(Number(countingPort), '127.0.0.1');

const waiting = new AbortController();
process.on('SIGTERM', () => {
  waiting.abort();
  void (served?.instance.close() ?? Promise.resolve()).finally(() => process.exit(0));
});
while (!waiting.signal.aborted) {
  const instance = await startInstance({
    home,
    port: Number(gatewayPort),
    kinds: clusterKinds(act),
    keepTurns: true,
    onStandby: () => waiting.signal,
  });
  // A younger owner's epoch at worst: then nothing that is taken in by it is ever stored
  const { epoch } = await homeStatus(store).catch(() => ({ epoch: 0 }));
  if (epoch > 0) served = { instance, epoch };
  console.log(`serves ${epoch}`);
  const why = epoch > 0 ? await instance.departed : 'lost';
  served = undefined;
  await instance.close().catch(() => undefined);
  console.log(`left ${epoch} ${why}`);
  if (why === 'drained') await wait(1_000); // the next one first
}
