import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Engine } from '../../actors/engines/engine.js';
import type { Redact } from '../../actors/engines/turn-events.js';
import type { Config } from '../home/config.js';
import { configuredEngines } from '../home/engines.js';
import type { Layout } from '../home/layout.js';
import { openWorkers, type Workers } from './workers.js';

export interface HomeWorkersOptions {
  readonly config: Config;
  readonly layout: Layout;
  readonly secret: string;
  readonly gatewayUrl: string;
  readonly redact: Redact | undefined;
  readonly log: Logger;
  /** Of the program's own: they run in its process, and end with it. */
  readonly ownEngines: readonly Engine[];
}

/**
 * The workers of a home, where `agents.worker` is set.
 * @example const workers = homeWorkers({ config, layout, secret, gatewayUrl, redact, log, ownEngines: [] });
 */
export function homeWorkers(options: HomeWorkersOptions): Workers | undefined {
  const { config, layout, secret, gatewayUrl, redact, log, ownEngines } = options;
  if (!config.agents.worker) return undefined;
  if (Buffer.byteLength(join(layout.run, 'worker-00000000')) > socketPathBytesMax) {
    log.warn(
      { folder: layout.run },
      'turns end with the gateway: the path of the home is too long for a socket',
    );
    return undefined;
  }
  const configured = configuredEngines(config, () => gatewayUrl, layout.engines).map(({ name }) => name);
  return openWorkers({
    folder: layout.run,
    logFile: join(layout.logs, 'worker.log'),
    secret,
    engines: { engines: config.engines, enginesFolder: layout.engines, gatewayUrl },
    hosted: new Set(configured.filter((name) => !ownEngines.some((engine) => engine.name === name))),
    redact: redact ?? ((value) => value),
    onFault: (engine, error) => log.error({ err: error, engine }, 'a turn in a worker met a fault'),
  });
}

/** A system cuts a longer one without a word; macOS has the least. */
const socketPathBytesMax = 103;
