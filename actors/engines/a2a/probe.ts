import { missingPackage } from '../../optional-package.js';
import type { EngineFacts } from '../engine.js';
import { keyOf } from '../remote/bounded-fetch.js';
import type { A2aOptions } from './agent.js';

/**
 * Is it there? A key that the settings name must be set and the SDK installed; the agent itself is not called before
 * a turn wants it.
 */
export async function probe(options: A2aOptions): Promise<EngineFacts> {
  const lacks = (reason: string, remedy: string): EngineFacts => ({
    available: false,
    reason,
    remedy,
    defaultModel: null,
    models: [],
  });
  const { apiKeyEnv } = options;
  if (apiKeyEnv !== undefined && keyOf(options) === undefined)
    return lacks(
      `The variable ${apiKeyEnv}, which should hold its key, is not set.`,
      `Set ${apiKeyEnv} in the environment of the gateway and start it again.`,
    );
  const command = missingPackage('@a2a-js/sdk');
  if (command !== undefined) return lacks('The package "@a2a-js/sdk" is not installed.', command);
  return { available: true, defaultModel: null, models: [] };
}
