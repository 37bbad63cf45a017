import { clerkEngine } from '../../actors/engines/clerk/engine.js';
import { commandEngine } from '../../actors/engines/command.js';
import type { Engine } from '../../actors/engines/engine.js';
import type { Config } from './config.js';

/** The engines of this home: those that config.yaml names, and the clerk, which is always there. A configured `clerk` takes its place. */
export function configuredEngines(config: Config, gatewayUrl: () => string | undefined): readonly Engine[] {
  const configured = Object.entries(config.engines.commands).map(([name, { command: [program = '', ...args] }]) => commandEngine({ name, command: [program, ...args] }));
  return configured.some((engine) => engine.name === 'clerk') ? configured : [...configured, clerkEngine({ gatewayUrl })];
}
