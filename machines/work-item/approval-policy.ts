import { jsonBytes } from '../text.js';
import { refuse, type Refusal } from '../refusals.js';
import { mayDecide, ownsItem, type Asker } from './authority.js';
import { factsOf, limits, ownerOf, type WorkItemContext, type WorkItemEventOf } from './context.js';
import { blank, fitNote, notOwner, unknownEmployee } from './refusals.js';
import type { ApprovalState } from './edges.js';

/** Who may ask for an approval, and who may decide it. */

export function mayRequest(
  context: WorkItemContext,
  event: WorkItemEventOf<'approval.request'>,
  asker: Asker,
): Refusal | undefined {
  if (!ownsItem(context, asker)) return notOwner(context);
  if (blank(event.request))
    return refuse('BAD_REQUEST', { path: 'request' }, 'Describe what needs approval.');
  if (jsonBytes(event.request) > limits.requestBytesMax)
    return refuse(
      'PAYLOAD_TOO_LARGE',
      { path: 'request', bytesMax: limits.requestBytesMax },
      `request is larger than ${limits.requestBytesMax} bytes.`,
    );
  if (event.expiresAt != null && event.expiresAt <= event.at)
    return refuse('BAD_REQUEST', { path: 'expiresAt' }, 'expiresAt is in the past.');
  const named = factsOf(asker).named;
  if (event.target !== null && event.targetKind !== 'virtual' && named?.known === false)
    return unknownEmployee(event.target, named.suggestion);
  if (event.target !== null && event.target === ownerOf(context))
    return refuse(
      'OWN_APPROVAL',
      { workItemId: context.id },
      'An approval cannot be routed to the owner of the work item.',
    );
  return misrouted(context, event, asker) ?? parked(context, event.gate?.runId);
}

/**
 * An approval goes to who stands above: the operator, the root, or a manager above the owner. The approver of a
 * gate is named by the definition.
 */
function misrouted(
  context: WorkItemContext,
  { target, targetKind, gate }: WorkItemEventOf<'approval.request'>,
  asker: Asker,
): Refusal | undefined {
  const { root, managers, named } = factsOf(asker);
  const isAbove = target === null || target === root || managers.includes(target);
  if (isAbove || targetKind === 'virtual' || gate !== undefined || named === null) return undefined;
  return refuse(
    'NOT_ROUTED',
    {
      workItemId: context.id,
      approvalTarget: target,
      routes: [...new Set(['operator', ...managers, ...(root === null ? [] : [root])])],
    },
    `An approval goes to the operator, the root or a manager above the owner; ${target} is none of them.`,
  );
}

/** By the matrix of authority.ts; what mirrors a gate is decided by its run alone. */
export const mayDecideRequest = (
  context: WorkItemContext,
  state: ApprovalState,
  event: WorkItemEventOf<'approval.decide'>,
  asker: Asker,
): Refusal | undefined =>
  mayDecide(context, state, asker) ??
  (state === 'pending'
    ? (fitDecision(event) ?? parked(context, event.resolves) ?? foreign(context, event))
    : undefined);

/**
 * A pending request that mirrors the parked gate of a run is decided with the gate, in one transaction, or
 * not at all.
 */
export function parked(context: WorkItemContext, resolves?: string): Refusal | undefined {
  const { approval } = context;
  if (!approval?.gate || approval.decidedAt !== null || approval.gate.runId === resolves) return undefined;
  return refuse(
    'GATE_PARKED',
    { workItemId: context.id, runId: approval.gate.runId, gateKey: approval.gate.gateKey },
    `Work item ${context.id} mirrors a gate at which run ${approval.gate.runId} is parked. Resolve the ` +
      'gate, or cancel the run.',
  );
}

/** What a run decides is what mirrors its gate, and nothing else that may be pending here. */
function foreign(
  { id, approval }: WorkItemContext,
  { resolves, gateKey }: WorkItemEventOf<'approval.decide'>,
): Refusal | undefined {
  if (
    resolves === undefined ||
    (approval?.gate?.runId === resolves && (gateKey === undefined || gateKey === approval.gate.gateKey))
  )
    return undefined;
  return refuse(
    'NO_PENDING_APPROVAL',
    { workItemId: id },
    `Work item ${id} does not mirror this gate of run ${resolves}.`,
  );
}

const fitDecision = (event: WorkItemEventOf<'approval.decide'>): Refusal | undefined =>
  ['approve', 'reject'].includes(event.decision)
    ? fitNote(event.note)
    : refuse('BAD_REQUEST', { path: 'decision' }, 'The decision must be approve or reject.');
