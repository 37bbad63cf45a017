import type { AnyStateMachine } from 'xstate';
import { budgetKind } from '../../actors/kinds/budget.js';
import { cronFireKind } from '../../actors/kinds/cron-fire.js';
import { scheduleKind } from '../../actors/kinds/schedule.js';
import { connectorKind } from '../../actors/kinds/connector.js';
import { fileKind } from '../../actors/kinds/file.js';
import { homeKind } from '../../actors/kinds/home.js';
import { pairingKind } from '../../actors/kinds/pairing.js';
import { pairingCodeKind } from '../../actors/kinds/pairing-code.js';
import { sessionKind } from '../../actors/kinds/session.js';
import { workItemKind } from '../../actors/kinds/work-item.js';
import { workflowRunKind } from '../../actors/kinds/workflow-run.js';
import { workflowKind } from '../../actors/kinds/workflow.js';
import type { FencedHand, KeyedHand } from '../../actors/contracts.js';
import { rootMachine } from '../../machines/index.js';

/** Every machine of the house with its version: what is drawn, hashed and walked through. A new machine is one line here. */
export interface Drawn { readonly name: string; readonly version: number; readonly machine: AnyStateMachine; readonly file: string }

const never = (): Promise<never> => Promise.reject(new Error('a chart runs nothing'));
const fenced: FencedHand = { fence: true, run: never, recover: never };
const keyed: KeyedHand = { fence: false, run: never };

const kinds = [
  sessionKind({ turn: fenced }),
  workItemKind(),
  connectorKind({ connection: keyed, delivery: fenced }),
  homeKind(),
  fileKind(),
  budgetKind(),
  workflowKind(),
  workflowRunKind({ ports: { definition: never } }),
  scheduleKind(),
  pairingKind({ proof: keyed, clearing: keyed }),
  pairingCodeKind({ device: keyed }),
  cronFireKind({ launch: keyed, record: keyed }),
];

export const catalogue: readonly Drawn[] = [
  ...kinds.map((kind) => ({ name: kind.kind, version: kind.version, machine: kind.machine as AnyStateMachine, file: `machines/${kind.kind}/machine.ts` })),
  { name: 'root', version: 1, machine: rootMachine as AnyStateMachine, file: 'machines/root/machine.ts' },
];
