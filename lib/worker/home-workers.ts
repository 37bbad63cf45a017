import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Engine } from '../../actors/engines/engine.js';
import type { PoolStats, SlotRequest } from '../../actors/engines/pool.js';
import type { Redact } from '../../actors/engines/turn-events.js';
import type { Config } from '../home/config.js';
import { configuredEngines } from '../home/engines.js';
import type { Layout } from '../home/layout.js';
import type { HomeStore } from '../home/open-store.js';
import { embeddedStore } from '../home/store-setting.js';
import { remoteWorkers, type RemoteWorkers } from './remote-workers.js';
import { openWorkers, type Workers } from './workers.js';

export interface HomeWorkersOptions {
  readonly config: Config;
  readonly layout: Layout;
  readonly gatewayUrl: string;
  readonly redact: Redact | undefined;
  readonly log: Logger;
  /** Of the program's own: they run in its process, and end with it. */
  readonly ownEngines: readonly Engine[];
  /** Do turns go on when the gateway is stopped? */
  readonly keepsTurns: boolean;
  /** Whether, and for how long still, this gateway owns the home. */
  readonly store: Pick<HomeStore, 'authority' | 'authorityMs'>;
}

/** What commands and routes reach of them. */
export interface HomeWorkers {
  /** On this machine. Absent: turns run in the gateway. */
  readonly local?: Pick<Workers, 'list' | 'drain' | 'remove' | 'hosted'>;
  /** On other machines. */
  readonly remote: RemoteWorkers;
  /** Of turns, in workers and in the gateway together. */
  slots(): PoolStats;
  /** Turns that wait for a worker, and that none which is here could run. */
  stranded(): readonly SlotRequest[];
}

/** All workers of a home, and what becomes of their turns when its gateway ends. */
export interface OpenWorkers extends Omit<HomeWorkers, 'slots' | 'stranded' | 'local'> {
  readonly local?: Workers;
  /** The engine, that knows of its provider's limits what its turns have shown elsewhere. */
  hearing(engine: Engine): Engine;
  /** Another machine may own the home next, which could not find turns that run on this one. */
  keepNoneHere(): void;
  leave(): void;
  /** How many turns go on. */
  readonly left: number;
}

/** `const workers = homeWorkers({ config, layout, gatewayUrl, redact, log, ownEngines: [], keepsTurns: true })` */
export function homeWorkers(options: HomeWorkersOptions): OpenWorkers {
  const { config, redact, log, keepsTurns, store } = options;
  const local = localWorkers(options);
  const remote = remoteWorkers({
    waitMs: config.agents.workerWaitSeconds * 1_000,
    redact: redact ?? ((value) => value),
    mayCommand: () => store.authority?.() ?? true,
    onFault: (engine, error) => log.error({ err: error, engine }, 'a turn on another machine met a fault'),
  });
  if (!keepsTurns || endsContainer()) local?.keepNone();
  if (!keepsTurns) remote.keepNone();
  return {
    ...(local && { local }),
    remote,
    hearing: (engine) => local?.hearing(engine) ?? engine,
    keepNoneHere: () => local?.keepNone(),
    leave: () => local?.leave(),
    get left() {
      return (local?.left ?? 0) + remote.left;
    },
  };
}

/** Undefined where `agents.worker` is false. */
function localWorkers(options: HomeWorkersOptions): Workers | undefined {
  const { config, layout, gatewayUrl, redact, log, ownEngines, store } = options;
  if (!config.agents.worker) return undefined;
  if (Buffer.byteLength(join(layout.run, 'worker-00000000')) > socketPathBytesMax) {
    log.warn(
      { folder: layout.run },
      'turns end with the gateway: the path of the home is too long for a socket',
    );
    return undefined;
  }
  const isHosted = ({ name }: Engine): boolean =>
    name !== clerkName && !ownEngines.some((engine) => engine.name === name);
  const configured = configuredEngines(config, () => gatewayUrl, layout.engines);
  return openWorkers({
    folder: layout.run,
    logFile: join(layout.logs, 'worker.log'),
    engines: { engines: config.engines, enginesFolder: layout.engines, gatewayUrl },
    hosted: new Set(configured.filter(isHosted).map(({ name }) => name)),
    ...(config.store !== embeddedStore && { waitMs: sharedWaitMs }),
    ...(store.authorityMs && { authorityMs: () => store.authorityMs?.() ?? 0 }),
    redact: redact ?? ((value) => value),
    onFault: (engine, error) => log.error({ err: error, engine }, 'a turn in a worker met a fault'),
  });
}

/**
 * Is this the program of a container, whose end kills every process in it? Then no turn can go on, and agents are
 * better ended in good order. `endsContainer() // true below tini`
 */
export function endsContainer(
  { pid, ppid }: Pick<NodeJS.Process, 'pid' | 'ppid'> = process,
  first: () => string = firstProgram,
): boolean {
  return pid === 1 || (ppid === 1 && containerInits.has(first()));
}

/** What containers run as process 1, with their program as its child. */
const containerInits: ReadonlySet<string> = new Set([
  'tini',
  'tini-static',
  'docker-init',
  'podman-init',
  'catatonit',
  'dumb-init',
]);

function firstProgram(): string {
  try {
    return readFileSync('/proc/1/comm', 'utf8').trim();
  } catch {
    return ''; // not on Linux
  }
}

/** Its turns take milliseconds: they would wait longer for a process than they take. */
const clerkName = 'clerk';

/** Where another machine may take the home over in seconds, agents of a dead gateway must not go on beside its own. */
const sharedWaitMs = 1_000;

/** A system cuts a longer one without a word; macOS has the least. */
const socketPathBytesMax = 103;
