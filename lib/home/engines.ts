import { join } from 'node:path';
import { a2aEngine } from '../../actors/engines/a2a/engine.js';
import type { A2aOptions } from '../../actors/engines/a2a/agent.js';
import { acpEngine, type AcpOptions } from '../../actors/engines/acp/engine.js';
import { acpPreset, acpPresetNames } from '../../actors/engines/acp/presets.js';
import { claudeEngine, type ClaudeOptions } from '../../actors/engines/claude/engine.js';
import { clerkEngine } from '../../actors/engines/clerk/engine.js';
import { codexEngine, type CodexOptions } from '../../actors/engines/codex/engine.js';
import { commandEngine } from '../../actors/engines/command.js';
import { openAiEngine } from '../../actors/engines/openai/engine.js';
import type { OpenAiOptions } from '../../actors/engines/openai/options.js';
import type { Engine } from '../../actors/engines/engine.js';
import type { ToolChoice } from './agent-settings.js';
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
        env,
      },
    ]) => commandEngine({ name, command: [program, ...args], ...(env && passed(env)) }),
  );
  const agents = Object.entries(engines.families.acp ?? {}).map(([name, { command, ...settings }]) =>
    acpEngine({ ...programOf(settings), name, bin: command } as AcpOptions),
  );
  const endpoints = Object.entries(engines.families.openai ?? {}).map(([name, settings]) =>
    openAiEngine({ ...programOf(settings), name } as OpenAiOptions),
  );
  const remote = Object.entries(engines.families.a2a ?? {}).map(([name, settings]) =>
    a2aEngine({ ...programOf(settings), name } as A2aOptions),
  );
  const configured = [...commands, ...agents, ...endpoints, ...remote];
  const presets = acpPresetNames.map((name) =>
    acpPreset(name, programOf(engines.presets[name] ?? {}) as Parameters<typeof acpPreset>[1]),
  );
  const own = [
    claudeEngine(programOf(engines.claude) as ClaudeOptions),
    codexEngine({ ...(programOf(engines.codex) as CodexOptions), home: join(folder, 'codex') }),
    ...presets,
    clerkEngine({ gatewayUrl }),
  ];
  return [...configured, ...own.filter(({ name }) => !configured.some((engine) => engine.name === name))];
}

/** How many turns of an engine may run at once, where its settings say it. */
export function processShares({ engines }: Config): Readonly<Record<string, number>> {
  const { commands, claude, codex, clerk, presets, families } = engines;
  const { a2a, acp, openai } = families;
  const all = { claude, codex, clerk, ...presets, ...commands, ...acp, ...openai, ...a2a };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, { maxProcesses }]) =>
      maxProcesses === undefined ? [] : [[name, maxProcesses]],
    ),
  );
}

/** Which of the gateway's tools the agents of an engine are offered, where its settings say it. */
export function engineTools({
  engines,
}: Pick<Config, 'engines'>): Readonly<Record<string, ToolChoice | false>> {
  const { claude, codex, presets, families } = engines;
  const all = { claude, codex, ...presets, ...families.acp };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, { tools }]) => (tools === undefined ? [] : [[name, tools]])),
  );
}

type Given = Readonly<Record<string, string | true>>;

/** Settings as an engine takes them: what the gateway keeps to itself is gone, variables have their values. */
function programOf<Settings extends { readonly env?: Given | undefined; readonly maxProcesses?: unknown }>(
  settings: Settings,
): Omit<Settings, 'maxProcesses' | 'env'> & Partial<ReturnType<typeof passed>> {
  const { maxProcesses: _, env, ...rest } = settings;
  return { ...rest, ...(env && passed(env)) };
}

/** Variables that are set, and those of the gateway that are passed on; which of those it lacks. */
function passed(given: Given): { readonly env: Record<string, string>; readonly absent: readonly string[] } {
  const values = Object.entries(given).map(
    ([name, value]) => [name, value === true ? process.env[name] : value] as const,
  );
  return {
    env: Object.fromEntries(
      values.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    ),
    absent: values.flatMap(([name, value]) => (value === undefined ? [name] : [])),
  };
}
