import { isAbsolute, resolve } from 'node:path';
import { acpPresetNames, acpPresets } from '../../actors/engines/acp/presets.js';
import type { Config } from './config.js';
import type { Layout } from './layout.js';

/**
 * What a gateway with these settings starts or loads, as names on the PATH and absolute paths: the programs of its
 * engines with the files on their command lines, and the modules. Anyone who could write one would be run by the
 * gateway, for an employee who is kept less far, or as the gateway itself.
 */
export function programsOf({ engines, modules }: Config, { home }: Pick<Layout, 'home'>): readonly string[] {
  const { claude, codex, presets, commands, families } = engines;
  return [
    claude.bin ?? 'claude',
    codex.bin ?? 'codex',
    ...acpPresetNames.map((name) => presets[name]?.bin ?? acpPresets[name].bin),
    ...Object.values(families.acp ?? {}).map(({ command }) => command),
    ...Object.values(commands).flatMap(({ command: [program = '', ...args] }) => [
      program,
      ...args.filter((word) => isAbsolute(word)),
    ]),
    ...modules.map((name) => resolve(home, name)),
  ];
}
