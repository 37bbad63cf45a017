import type { Kind } from './contracts.js';
import type { EventOf, InputOf, KindNamed } from './inference.js';
import type { budgetKind } from './kinds/budget.js';
import type { connectorKind } from './kinds/connector.js';
import type { cronFireKind } from './kinds/cron-fire.js';
import type { fileKind } from './kinds/file.js';
import type { homeKind } from './kinds/home.js';
import type { pairingCodeKind } from './kinds/pairing-code.js';
import type { pairingKind } from './kinds/pairing.js';
import type { pollKind } from './kinds/poll.js';
import type { scheduleKind } from './kinds/schedule.js';
import type { sessionKind } from './kinds/session.js';
import type { triggerKind } from './kinds/trigger.js';
import type { workItemKind } from './kinds/work-item.js';
import type { workflowRunKind } from './kinds/workflow-run.js';
import type { workflowKind } from './kinds/workflow.js';

/**
 * The kinds that a gateway runs, and whatever a host brings beside them: commands and routes know the views,
 * events and rows of the first by their names.
 */
export type GatewayKinds = readonly (Kind | BuiltInKind)[];

type BuiltInKind = ReturnType<
  | typeof budgetKind
  | typeof connectorKind
  | typeof cronFireKind
  | typeof fileKind
  | typeof homeKind
  | typeof pairingCodeKind
  | typeof pairingKind
  | typeof pollKind
  | typeof scheduleKind
  | typeof sessionKind
  | typeof triggerKind
  | typeof workItemKind
  | typeof workflowRunKind
  | typeof workflowKind
>;

/** Their names. */
export type BuiltInName = BuiltInKind['kind'];

/** An event of one of them, as a command sends it: `GatewayEvent<'session'>`. */
export type GatewayEvent<Name extends BuiltInName> = EventOf<KindNamed<GatewayKinds, Name>>;
/** What one of them is created with. */
export type GatewayInput<Name extends BuiltInName> = InputOf<KindNamed<GatewayKinds, Name>>;
