/** `troupe/xstate6`: kinds whose machines are of XState 6, which the host brings. Experimental, as 6 is. */
export { executionKind } from '../supervisor/xstate6/execution-kind.js';
export type { ExecutionAdapter, ExecutionOptions } from '../supervisor/xstate6/execution-adapter.js';
export {
  xstate6,
  type AnyMachine6,
  type Definition6,
  type EffectsOf6,
  type MachineOf,
  type XState6Kinds,
  type XState6Library,
} from '../supervisor/xstate6/kinds.js';
