import { configuredEngines } from '../home/engines.js';
import { listen } from './listen.js';
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
await listen(setup, engines, () => process.exit(0));
process.stdout.write('ready\n');
// A Ctrl-C in the gateway's terminal is not meant for what its agents do
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
