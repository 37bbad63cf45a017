import { budgetKind } from '../../actors/kinds/budget.js';
import { cronFireKind } from '../../actors/kinds/cron-fire.js';
import { pollKind } from '../../actors/kinds/poll.js';
import { scheduleKind } from '../../actors/kinds/schedule.js';
import { connectorKind } from '../../actors/kinds/connector.js';
import { fileKind } from '../../actors/kinds/file.js';
import { homeKind } from '../../actors/kinds/home.js';
import { pairingKind } from '../../actors/kinds/pairing.js';
import { pairingCodeKind } from '../../actors/kinds/pairing-code.js';
import { sessionKind } from '../../actors/kinds/session.js';
import { triggerKind } from '../../actors/kinds/trigger.js';
import { workItemKind } from '../../actors/kinds/work-item.js';
import { workflowRunKind } from '../../actors/kinds/workflow-run.js';
import { workflowKind } from '../../actors/kinds/workflow.js';
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
    homeKind(),
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
