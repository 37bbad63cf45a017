import type { ConnectorInstance, Connectors } from '../../actors/connectors/registry.js';
import type { Json } from '../../machines/outputs.js';
import type { Config } from './config.js';
import type { Layout } from './layout.js';
import { readConfig } from './read-config.js';

/**
 * The connectors that config.yaml names, as they are now: a reload reads the file again and takes nothing
 * else from it; where it cannot be used, nothing changes.
 */
export function connectorBook(
  config: Config,
  layout: Pick<Layout, 'config'>,
): Pick<Connectors, 'instances' | 'reread'> {
  let known = instancesOf(config);
  return {
    instances: () => known,
    async reread() {
      known = instancesOf(await readConfig(layout.config));
    },
  };
}

const instancesOf = ({ connectors }: Config): readonly ConnectorInstance[] =>
  connectors.instances.map(({ name, type, employee, allowFrom, ...settings }) => ({
    name,
    type,
    employee,
    allowFrom,
    settings: settings as Record<string, Json>,
  })); // YAML's plain values are JSON
