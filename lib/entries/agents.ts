/** `troupe/agents`: sessions that engines answer, work items, budgets and workflows as kinds, and the engines. */
export { createAgents, type Agents, type AgentsOptions, type SessionOptions } from '../agents.js';
export {
  defineEngine,
  type Engine,
  type EngineFacts,
  type TurnIO,
  type TurnRequest,
  type TurnResult,
} from '../../actors/engines/engine.js';
export type { TurnReport } from '../../actors/engines/turn-events.js';
export { turnResult } from '../../actors/engines/turn-result.js';
export { a2aEngine } from '../../actors/engines/a2a/engine.js';
export type { A2aOptions } from '../../actors/engines/a2a/agent.js';
export { acpEngine, type AcpOptions } from '../../actors/engines/acp/engine.js';
export { claudeEngine, type ClaudeOptions } from '../../actors/engines/claude/engine.js';
export { clerkEngine } from '../../actors/engines/clerk/engine.js';
export { codexEngine, type CodexOptions } from '../../actors/engines/codex/engine.js';
export { commandEngine, type CommandEngineOptions } from '../../actors/engines/command.js';
export { openAiEngine } from '../../actors/engines/openai/engine.js';
export type { OpenAiOptions } from '../../actors/engines/openai/options.js';
