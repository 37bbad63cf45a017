/**
 * The public face of Troupe. Small on purpose; machines are at `troupe/machines`, contract suites at
 * `troupe/testing`.
 */
export { createSupervisor, defaultLimits } from './supervisor/supervisor.js';
export {
  asActor,
  type AsActorOptions,
  type DurableInput,
  type DurableSnapshot,
} from './supervisor/as-actor.js';
export { defineKind } from '../actors/define-kind.js';
export { Fault } from './supervisor/kernel.js';
export type {
  ActorView,
  AskOptions,
  Committed,
  DeadLetter,
  EventObject,
  Handle,
  Idempotency,
  Limits,
  ListPage,
  ListQuery,
  LogEntry,
  PastState,
  Transaction,
  ProgressFrame,
  Row,
  RowsQuery,
  SpawnOptions,
  Supervisor,
  SupervisorOptions,
  SupervisorStatus,
  TransactionContext,
  WatchOptions,
  Why,
} from './supervisor/contract.js';
export type { Inspection, KindFacts, StoredActor } from './supervisor/answers.js';
export { createAgents, type Agents, type AgentsOptions, type SessionOptions } from './agents.js';
export { createGateway, type Gateway, type GatewayOptions } from './gateway/server.js';
export { startInstance, type Instance, type InstanceOptions } from './instance.js';
export { memoryStore } from './store/memory.js';
export { openLevelStore as levelStore } from './store/level.js';
export {
  StoreError,
  type Group,
  type Head,
  type Op,
  type Range,
  type Store,
  type StoreErrorCode,
  type StoreState,
} from './store/contract.js';
export { systemEnvironment, type Environment } from './environment.js';
export {
  defineEngine,
  type Engine,
  type EngineFacts,
  type TurnIO,
  type TurnRequest,
  type TurnResult,
} from '../actors/engines/engine.js';
export { turnResult } from '../actors/engines/turn-result.js';
export { commandEngine, type CommandEngineOptions } from '../actors/engines/command.js';
export { clerkEngine } from '../actors/engines/clerk/engine.js';
export { webhook } from '../actors/connectors/webhook.js';
export {
  defineConnector,
  type Connector,
  type ConnectorLink,
  type DeliveryResult,
  type OutboundMessage,
} from '../actors/connectors/connector.js';
export type {
  AtLeastOnceEffect,
  AtMostOnceEffect,
  Effect,
  EffectContext,
  IndexRow,
  Kind,
  Meta,
  Persisted,
} from '../actors/contracts.js';
export { isRefusal, refuse, type Refusal, type RefusalCode } from '../machines/refusals.js';
export type { Caller } from '../machines/caller.js';
