import type { Config } from './config.js';
import type { Json } from '../../machines/outputs.js';

/**
 * The settings as an operator may see them from afar: in the shape of config.yaml, without anything that may
 * be a secret. Of engines and connectors, whose settings are their own, nothing is shown but what is known to
 * be harmless: an argument of a program or the address of a webhook may be a key, whatever it is called.
 * @example shownConfig(live.current)
 */
export function shownConfig({ engines, connectors, notify, ...rest }: Config): Json {
  const { default: usual, maxProcesses, commands, claude, codex, presets, families } = engines;
  const each = (settings: object): { readonly [name: string]: Json } =>
    Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, modelOf(value)]));
  return {
    // Plain values, all of them ours
    ...(JSON.parse(JSON.stringify({ ...rest, notify: { ...notify, command: undefined } })) as {
      readonly [section: string]: Json;
    }),
    engines: {
      default: usual,
      maxProcesses,
      ...each(commands),
      ...each({ claude, codex, ...presets }),
      ...Object.fromEntries(Object.entries(families).map(([family, members]) => [family, each(members)])),
    },
    connectors: {
      instances: connectors.instances.map(({ name, type, employee, allowFrom }) => ({
        name,
        type,
        employee,
        allowFrom,
      })),
    },
  };
}

function modelOf(settings: unknown): Json {
  const { model } = (settings ?? {}) as { readonly model?: unknown };
  return typeof model === 'string' ? { model } : {};
}
