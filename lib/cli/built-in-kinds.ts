import { budgetKind } from '../../actors/budget/kind.js';
import { cronFireKind } from '../../actors/cron-fire/kind.js';
import { pollKind } from '../../actors/poll/kind.js';
import { scheduleKind } from '../../actors/schedule/kind.js';
import { connectorKind } from '../../actors/connector/kind.js';
import { fileKind } from '../../actors/file/kind.js';
import { heldDecisionKind } from '../../actors/held-decision/kind.js';
import { homeKind } from '../../actors/home/kind.js';
import { notifierKind } from '../../actors/notifier/kind.js';
import { pairingKind } from '../../actors/pairing/kind.js';
import { pairingCodeKind } from '../../actors/pairing-code/kind.js';
import { sessionKind } from '../../actors/session/kind.js';
import { triggerKind } from '../../actors/trigger/kind.js';
import { workItemKind } from '../../actors/work-item/kind.js';
import { workerKind } from '../../actors/worker/kind.js';
import { workflowRunKind } from '../../actors/workflow-run/kind.js';
import { workflowKind } from '../../actors/workflow/kind.js';
import type { AtMostOnceEffect, AtLeastOnceEffect, Kind } from '../../actors/contracts.js';

/**
 * Every kind that a gateway of this build runs, without hands: for deciding what was decided before and for
 * drawing, never for acting. A new kind is one line here.
 */
export const builtInKinds = (): readonly Kind[] =>
  [
    sessionKind({ turn: fenced }),
    workItemKind(),
    connectorKind({ connection: keyed, delivery: fenced }),
    notifierKind({ message: keyed }),
    heldDecisionKind({ decide: keyed }),
    homeKind(),
    workerKind(),
    fileKind(),
    budgetKind(),
    workflowKind(),
    workflowRunKind({ ports: () => ({ definition: never }) }),
    scheduleKind(),
    triggerKind(),
    pollKind({ check: fenced, fire: keyed }),
    pairingKind({ proof: keyed, clearing: keyed }),
    pairingCodeKind({ device: keyed }),
    cronFireKind({ launch: keyed, record: keyed }),
    // Each kind knows its own machine; a list of them knows only that they are kinds
  ] as readonly unknown[] as readonly Kind[];

const never = (): Promise<never> => Promise.reject(new Error('a replay runs no effects'));
const fenced: AtMostOnceEffect<never, never> = { guarantee: 'at-most-once', run: never, recover: never };
const keyed: AtLeastOnceEffect<never, never> = { guarantee: 'at-least-once', run: never };
