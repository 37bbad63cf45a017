/**
 * The machines of Troupe, as `troupe/machines`: standard XState statecharts and the pure rules around them.
 * They decide and never do; draw them, test them, or step them with a kernel of your own.
 */
export {
  rootMachine,
  subsystems,
  reasonsOf,
  type RootContext,
  type RootEvent,
  type RootStatus,
  type Subsystem,
} from './root/machine.js';
export { sessionMachine } from './session/machine.js';
export { admitSession, sessionNotInState, sessionPolicy } from './session/policy.js';
export {
  statusOf as sessionStatusOf,
  type SessionStatus,
  sessionIndex,
  sessionView,
  transportState,
  type SessionView,
  type TransportState,
} from './session/view.js';
export type { SessionContext, SessionEvent, SessionInput, TurnInput, TurnOutput } from './session/context.js';
export { workItemMachine } from './work-item/machine.js';
export { admitWorkItem, workItemPolicy } from './work-item/policy.js';
export { workItemNotInState } from './work-item/refusals.js';
export { matrix as approvalMatrix, relationTo } from './work-item/authority.js';
export { edges as workItemEdges, statuses as workItemStatuses, type WorkStatus } from './work-item/edges.js';
export { nextMoves, type NextMove } from './work-item/next-moves.js';
export type {
  NamedEmployee,
  WorkItemContext,
  WorkItemEvent,
  WorkItemFacts,
  WorkItemInput,
} from './work-item/context.js';
export { workItemIndex, workItemView, type WorkItemView } from './work-item/view.js';
export { connectorMachine } from './connector/machine.js';
export { connectorPolicy } from './connector/policy.js';
export type {
  ConnectionInput,
  ConnectorContext,
  ConnectorEvent,
  ConnectorInput,
  DeliveryInput,
  DeliveryOutput,
} from './connector/context.js';
export { connectorView, type ConnectorView } from './connector/context.js';
export {
  admitFile,
  fileMachine,
  filePolicy,
  type FileContext,
  type FileEvent,
  type FileInput,
} from './file/machine.js';
export { homeMachine, homePolicy, type HomeContext, type HomeEvent } from './home/machine.js';
export { workflowRunMachine } from './workflow-run/machine.js';
export { runPolicy } from './workflow-run/policy.js';
export { gateMatrix } from './workflow-run/authority.js';
export type {
  RunContext,
  RunEvent,
  RunFacts,
  RunInput,
  RunStatus,
  StepCall,
  StepOutcome,
  StepResult,
} from './workflow-run/context.js';
export { runView, type RunView } from './workflow-run/view.js';
export { parseDefinition, type ReadDefinition, type ReadOptions } from './graph/read-definition.js';
export type { GraphFault } from './graph/reader.js';
export { executionPlan, type ExecutionPlan } from './graph/plan.js';
export { differenceOf, type DefinitionDifference } from './graph/difference.js';
export {
  definitionLimits,
  type StepActor,
  type WorkflowDefinition,
  type WorkflowEdge,
  type WorkflowNode,
  type WorkflowStatus,
} from './graph/definition.js';
export { holds, parseCondition, type Condition, type Patterns } from './graph/conditions.js';
export { workflowMachine } from './workflow/machine.js';
export { admitWorkflow, workflowPolicy } from './workflow/policy.js';
export type { WorkflowContext, WorkflowEvent, WorkflowFacts, WorkflowInput } from './workflow/context.js';
export { workflowView, type WorkflowView } from './workflow/view.js';
export {
  admitPairing,
  pairingMachine,
  pairingPolicy,
  type PairingContext,
  type PairingEvent,
  type PairingInput,
  type ProofInput,
  type ProofOutput,
} from './pairing/machine.js';
export {
  admitPairingCode,
  pairingCodeMachine,
  pairingCodePolicy,
  type DeviceKind,
  type NewDevice,
  type PairingCodeContext,
  type PairingCodeEvent,
  type PairingCodeInput,
} from './pairing-code/machine.js';
export {
  supervise,
  defaultSupervision,
  type Strategy,
  type Supervision,
  type Verdict,
} from './supervisor/supervise.js';
export {
  publish,
  effect,
  writeRow,
  stampOf,
  sendToActor,
  type ActorKey,
  type Json,
  type Output,
  type OutputOf,
  type Publish,
  type SendTo,
  type Stamp,
  type WriteRow,
} from './outputs.js';
export {
  authorityOf,
  callerName,
  isPerson,
  isTrusted,
  operator,
  system,
  type Authority,
  type Caller,
} from './caller.js';
export {
  isRefusal,
  refusalTable,
  refuse,
  type NotInState,
  type Refusal,
  type RefusalCode,
} from './refusals.js';
export { sortable, sortableText } from './sortable.js';
