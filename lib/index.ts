/**
 * `troupe`: the supervisor and what kinds are made of. Loads in little time and memory; what is built on it has
 * entries of its own: `troupe/level`, `troupe/agents`, `troupe/connectors`, `troupe/gateway`, `troupe/machines`,
 * `troupe/testing`.
 */
export { createSupervisor } from './supervisor/supervisor.js';
export { defaultLimits } from './supervisor/options.js';
export {
  asActor,
  type AsActorOptions,
  type DurableInput,
  type DurableSnapshot,
} from './supervisor/as-actor.js';
export { defineKind, type KindDefinition } from '../actors/define-kind.js';
export { Fault } from './supervisor/kernel.js';
export type {
  ActorView,
  ActorViewOf,
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
export type { Inspection, KindFacts, StoredActor } from './supervisor/inspection-answers.js';
export { memoryStore } from './store/memory.js';
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
export type {
  AtLeastOnceEffect,
  AtMostOnceEffect,
  Effect,
  EffectContext,
  IndexRow,
  Kind,
  Meta,
  Persisted,
  StandardSchema,
} from '../actors/contracts.js';
export type { Panel, PanelCell } from '../actors/panel.js';
export {
  isRefusal,
  refuse,
  type NotInState,
  type Refusal,
  type RefusalCode,
  type RefusalMeaning,
} from '../machines/refusals.js';
export type {
  AnyKind,
  AnyKinds,
  EffectsOf,
  EventOf,
  InputOf,
  KindNamed,
  RefusalOf,
  RowsOf,
  SnapshotOf,
  ViewOf,
} from '../actors/inference.js';
export type { Caller } from '../machines/caller.js';
