import { join } from 'node:path';
import { acpEngine, type AcpOptions } from '../../actors/engines/acp/engine.js';
import { acpPreset, acpPresetNames } from '../../actors/engines/acp/presets.js';
import { claudeEngine, type ClaudeOptions } from '../../actors/engines/claude/engine.js';
import { clerkEngine } from '../../actors/engines/clerk/engine.js';
import { codexEngine, type CodexOptions } from '../../actors/engines/codex/engine.js';
import { commandEngine } from '../../actors/engines/command.js';
import { openAiEngine } from '../../actors/engines/openai/engine.js';
import type { OpenAiOptions } from '../../actors/engines/openai/options.js';
import type { Engine } from '../../actors/engines/engine.js';
import type { Config } from './config.js';

/**
 * The engines of this home (`folder`: where programs keep what is not the user's): those that config.yaml
 * names, and those that are always there. A configured one of the same name takes their place.
 */
export function configuredEngines(
  { engines }: Config,
  gatewayUrl: () => string | undefined,
  folder: string,
): readonly Engine[] {
  const commands = Object.entries(engines.commands).map(
    ([
      name,
      {
        command: [program = '', ...args],
      },
    ]) => commandEngine({ name, command: [program, ...args] }),
  );
  const agents = Object.entries(engines.families.acp ?? {}).map(([name, { command, ...settings }]) =>
    acpEngine({ ...settings, name, bin: command } as AcpOptions),
  );
  const endpoints = Object.entries(engines.families.openai ?? {}).map(([name, settings]) =>
    openAiEngine({ ...settings, name } as OpenAiOptions),
  );
  const configured = [...commands, ...agents, ...endpoints];
  const presets = acpPresetNames.map((name) =>
    acpPreset(name, engines.presets[name] as Parameters<typeof acpPreset>[1]),
  );
  const own = [
    claudeEngine(engines.claude as ClaudeOptions),
    codexEngine({ ...(engines.codex as CodexOptions), home: join(folder, 'codex') }),
    ...presets,
    clerkEngine({ gatewayUrl }),
  ];
  return [...configured, ...own.filter(({ name }) => !configured.some((engine) => engine.name === name))];
}
