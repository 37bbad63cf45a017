import type { Kind } from './contracts.js';
import type { EventOf, InputOf, KindNamed } from './inference.js';
import type { budgetKind } from './budget/kind.js';
import type { connectorKind } from './connector/kind.js';
import type { cronFireKind } from './cron-fire/kind.js';
import type { fileKind } from './file/kind.js';
import type { heldDecisionKind } from './held-decision/kind.js';
import type { homeKind } from './home/kind.js';
import type { notifierKind } from './notifier/kind.js';
import type { pairingCodeKind } from './pairing-code/kind.js';
import type { pairingKind } from './pairing/kind.js';
import type { pollKind } from './poll/kind.js';
import type { scheduleKind } from './schedule/kind.js';
import type { sessionKind } from './session/kind.js';
import type { triggerKind } from './trigger/kind.js';
import type { workerKind } from './worker/kind.js';
import type { workItemKind } from './work-item/kind.js';
import type { workflowRunKind } from './workflow-run/kind.js';
import type { workflowKind } from './workflow/kind.js';

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
  | typeof heldDecisionKind
  | typeof homeKind
  | typeof notifierKind
  | typeof pairingCodeKind
  | typeof pairingKind
  | typeof pollKind
  | typeof scheduleKind
  | typeof sessionKind
  | typeof triggerKind
  | typeof workItemKind
  | typeof workerKind
  | typeof workflowRunKind
  | typeof workflowKind
>;

/** Their names. */
export type BuiltInName = BuiltInKind['kind'];

/** An event of one of them, as a command sends it: `GatewayEvent<'session'>`. */
export type GatewayEvent<Name extends BuiltInName> = EventOf<KindNamed<GatewayKinds, Name>>;
/** What one of them is created with. */
export type GatewayInput<Name extends BuiltInName> = InputOf<KindNamed<GatewayKinds, Name>>;
