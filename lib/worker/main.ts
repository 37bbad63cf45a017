import { configuredEngines } from '../home/engines.js';
import { Worker } from './worker.js';
import type { WorkerSetup } from './wire.js';

/** The program of a worker: its setup on stdin, a line on stdout when it listens. It ends by itself. */
const pieces: Buffer[] = [];
for await (const piece of process.stdin) pieces.push(piece as Buffer);
const setup = JSON.parse(Buffer.concat(pieces).toString()) as WorkerSetup;
const engines = configuredEngines(
  { engines: setup.engines } as unknown as Parameters<typeof configuredEngines>[0],
  () => setup.gatewayUrl,
  setup.enginesFolder,
);
const worker = new Worker(setup, engines, () => process.exit(0));
await worker.listen();
process.stdout.write('ready\n');
// A Ctrl-C in the gateway's terminal is not meant for what its agents do
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
