import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Json } from '../../machines/outputs.js';
import type { WorkerOffer } from '../../machines/worker/machine.js';
import { tokenHash } from '../../actors/engines/tokens.js';
import type { TurnEvent } from '../../actors/engines/turn-events.js';
import { machineName } from '../../actors/engines/process/machine.js';
import { reap } from '../../actors/engines/process.js';
import type { SandboxLevel } from '../../actors/sandbox/levels.js';
import { sessionLinks } from '../gateway/session-links.js';
import { configuredEngines } from '../home/engines.js';
import type { Layout } from '../home/layout.js';
import { readConfig } from '../home/read-config.js';
import { memoryBytesMax, programsOf } from '../home/sandbox.js';
import { joinGateway } from '../worker/join.js';
import { openPlaces } from '../worker/places.js';
import { Worker } from '../worker/worker.js';

export interface RunWorkerOptions {
  /** Of the gateway. */
  readonly url: string;
  readonly name: string;
  readonly token: string;
  /** Where that is kept: no agent sees it. */
  readonly tokenFile: string;
  /** Of the worker's own home: its `config.yaml` says which engines there are, and how they are started. */
  readonly layout: Layout;
  /** Real paths. */
  readonly roots: readonly string[];
  /** Undefined: all that are found. */
  readonly engines: readonly string[] | undefined;
  readonly slots: number;
  readonly labels: readonly string[];
  readonly level: SandboxLevel;
  readonly isRequired: boolean;
  readonly say: (line: string) => void;
}

/**
 * Runs until it is removed, or told to end by a signal: then its turns end first. What an earlier life of it left
 * running is ended before it joins. `await runWorker({ url: 'https://gateway.example', name: 'gpu1', … })`
 */
export async function runWorker(options: RunWorkerOptions): Promise<'removed' | 'closed'> {
  const { url, name, token, layout, roots, say } = options;
  const notes = join(layout.run, 'turns');
  for (const folder of [notes, layout.work, layout.engines])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  await endLeftovers(notes);
  const config = await readConfig(layout.config);
  const gatewayUrl = url.replace(/\/+$/, '');
  const all = configuredEngines(config, () => gatewayUrl, layout.engines);
  const known = all.filter(
    ({ name: engine }) => options.engines?.includes(engine) !== false && engine !== 'clerk',
  );
  const found = await Promise.all(known.map(async (engine) => ({ engine, ...(await engine.discover()) })));
  const engines = found.filter(({ available }) => available).map(({ engine }) => engine);
  for (const wanted of options.engines ?? [])
    if (!engines.some((engine) => engine.name === wanted)) say(`Engine ${wanted} was not found here.`);

  const sessions = new Map<string, string>();
  const places = openPlaces({
    hidden: [layout.home, options.tokenFile],
    memoryBytesMax: () => memoryBytesMax(config),
    work: layout.work,
    roots,
    level: options.level,
    isRequired: options.isRequired,
    programs: programsOf(config, layout),
    gatewayUrl,
    openLink: sessionLinks({
      folder: layout.run,
      tokens: { resolve: (given) => sessions.get(tokenHash(given)) },
      gatewayUrl: () => gatewayUrl,
      hosts: () => config.agents.sandboxHosts,
    }),
  });
  let ended: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (ended = resolve));
  const worker = new Worker(
    {
      waitMs: 60_000,
      places,
      onBegin: ({ sessionId, tokenHash: hash }) => void sessions.set(hash, sessionId),
      onEvent: (turnId, event) => keepNote(notes, turnId, event),
    },
    engines,
    () => ended(),
  );
  const offer: WorkerOffer = {
    machine: machineName(),
    slots: options.slots,
    labels: options.labels,
    engines: engines.map((engine) => engine.name),
    roots,
    work: layout.work,
  };
  const joined = joinGateway({
    url,
    token,
    worker,
    offer,
    onState: (state, reason) =>
      say(
        state === 'connected'
          ? `Connected to ${gatewayUrl} as ${name}.`
          : `Away from the gateway: ${reason}.`,
      ),
  });
  const stop = (): void => {
    say('Ending the turns that run here; again to end at once.');
    for (const signal of signals) process.once(signal, () => process.exit(1));
    worker.end();
  };
  for (const signal of signals) process.once(signal, stop);
  await over; // a worker with no idle time ends when it is told to, and its turns are over
  // What the last turns said is to arrive
  await new Promise((resolve) => setTimeout(resolve, 200));
  joined.close();
  return joined.over;
}

const signals = ['SIGINT', 'SIGTERM'] as const;

/** By this a later life of this worker finds what it left running when it was killed. */
function keepNote(folder: string, turnId: string, event: TurnEvent): void {
  const file = join(folder, `${createHash('sha256').update(turnId).digest('hex').slice(0, 32)}.json`);
  if (event.type === 'process.noted') {
    writeFileSync(`${file}.new`, JSON.stringify(event.note), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  if (event.type === 'turn.ended') rmSync(file, { force: true });
}

async function endLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const note = noteIn(await readFile(file, 'utf8').catch(() => ''));
    const reaped = await reap(note);
    if (reaped.gone) await rm(file, { force: true });
    else throw new Error(`Process ${reaped.pid} of an earlier turn is still running. End it first.`);
  }
}

/** One that was cut short names no process: none starts before its note is whole. */
function noteIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
