import type { AnyStateMachine } from 'xstate';
import { builtInKinds } from '../../lib/cli/built-in-kinds.js';
import { rootMachine } from '../../machines/index.js';
import { stepMachine } from '../../machines/workflow-run/step-machine.js';

/**
 * Every machine of the house with its version: what is drawn, hashed and walked through. A new kind is one
 * line in lib/cli/built-in-kinds.ts.
 */
export interface Drawn {
  readonly name: string;
  readonly version: number;
  readonly machine: AnyStateMachine;
  readonly file: string;
}

export const catalogue: readonly Drawn[] = [
  ...builtInKinds().map((kind) => ({
    name: kind.kind,
    version: kind.version,
    machine: kind.machine,
    file: `machines/${kind.kind}/machine.ts`,
  })),
  {
    name: 'workflow-step',
    version: 1,
    machine: stepMachine as unknown as AnyStateMachine,
    file: 'machines/workflow-run/step-machine.ts',
  },
  { name: 'root', version: 1, machine: rootMachine as AnyStateMachine, file: 'machines/root/machine.ts' },
];
