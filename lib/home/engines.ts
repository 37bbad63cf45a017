import { claudeEngine, type ClaudeOptions } from '../../actors/engines/claude/engine.js';
import { clerkEngine } from '../../actors/engines/clerk/engine.js';
import { commandEngine } from '../../actors/engines/command.js';
import type { Engine } from '../../actors/engines/engine.js';
import type { Config } from './config.js';

/** The engines of this home: those that config.yaml names, and claude and the clerk, which are always there. A configured one of the same name takes their place. */
export function configuredEngines(config: Config, gatewayUrl: () => string | undefined): readonly Engine[] {
  const configured = Object.entries(config.engines.commands).map(([name, { command: [program = '', ...args] }]) => commandEngine({ name, command: [program, ...args] }));
  const own = [claudeEngine(config.engines.claude as ClaudeOptions), clerkEngine({ gatewayUrl })];
  return [...configured, ...own.filter(({ name }) => !configured.some((engine) => engine.name === name))];
}
