import { isPerson, isTrusted, type Caller } from '../caller.js';
import { refuse, type Refusal } from '../refusals.js';
import { jsonBytes } from '../text.js';
import { limits, type WorkItemContext, type WorkItemEventOf, type WorkItemFacts } from './context.js';
import type { ApprovalState } from './edges.js';
import { blank, fitNote } from './ledger.js';
import { notOwner, unknownEmployee } from './refusals.js';

/**
 * The relation of a caller to a work item, the matrix of who may decide its approvals, and who may ask for one.
 * Owners come first: who owns an item, or works for its owner's session, never decides about it, whatever else they
 * are. All of it is judged by the caller on whose behalf an event is sent.
 */

export type Relation = 'operator' | 'system' | 'owner' | 'routed manager' | 'root' | 'executive' | 'other';

export interface Asker {
  readonly onBehalfOf: Caller;
  readonly facts?: WorkItemFacts;
}

/**
 * What an asker is to a work item. Never throws.
 * @example const isManager = (context: WorkItemContext, asker: Authority) => relationTo(context, asker) === 'owner';
 */
export function relationTo(context: WorkItemContext, asker: Asker): Relation {
  const caller = asker.onBehalfOf;
  if (caller.type === 'system') return 'system';
  if (isPerson(caller) || caller.type !== 'session') return 'operator';
  const facts = factsOf(asker);
  if (isOwner(context, caller)) return 'owner';
  if (isRoot(facts, caller)) return 'root';
  if (caller.employee !== null && caller.employee === routedTo(context, facts)) return 'routed manager';
  return caller.employee !== null && facts.executives.includes(caller.employee) ? 'executive' : 'other';
}

/** Owner, attempt, creator, or a manager above: an agent's item. People and the kernel may always. */
export const ownsItem = (context: WorkItemContext, asker: Asker): boolean =>
  isTrusted(asker.onBehalfOf) ||
  isOwner(context, asker.onBehalfOf) ||
  isAttempt(context, asker.onBehalfOf) ||
  isCreator(context, asker.onBehalfOf) ||
  isAbove(factsOf(asker), asker.onBehalfOf);

type Cell = 'yes' | 'OWN_APPROVAL' | 'NOT_ROUTED' | 'NO_PENDING_APPROVAL';
type Column = 'none' | 'manager' | 'root' | 'escalated' | 'decided';

/**
 * Rows: the caller. Columns: nothing pending · routed to a manager · routed to the root · escalated · decided
 * already. `NO_PENDING_APPROVAL` is said by the chart, to those who would otherwise have the authority.
 * @example approvalMatrix.operator.manager // 'NOT_ROUTED'
 */
export const matrix: Readonly<Record<Relation, Readonly<Record<Column, Cell>>>> = {
  operator: {
    none: 'NO_PENDING_APPROVAL',
    manager: 'NOT_ROUTED',
    root: 'yes',
    escalated: 'yes',
    decided: 'NO_PENDING_APPROVAL',
  },
  system: {
    none: 'NO_PENDING_APPROVAL',
    manager: 'yes',
    root: 'yes',
    escalated: 'yes',
    decided: 'NO_PENDING_APPROVAL',
  },
  owner: {
    none: 'OWN_APPROVAL',
    manager: 'OWN_APPROVAL',
    root: 'OWN_APPROVAL',
    escalated: 'OWN_APPROVAL',
    decided: 'OWN_APPROVAL',
  },
  'routed manager': {
    none: 'NO_PENDING_APPROVAL',
    manager: 'yes',
    root: 'NOT_ROUTED',
    escalated: 'yes',
    decided: 'NO_PENDING_APPROVAL',
  },
  root: {
    none: 'NO_PENDING_APPROVAL',
    manager: 'yes',
    root: 'yes',
    escalated: 'yes',
    decided: 'NO_PENDING_APPROVAL',
  },
  executive: {
    none: 'NOT_ROUTED',
    manager: 'NOT_ROUTED',
    root: 'NOT_ROUTED',
    escalated: 'yes',
    decided: 'NO_PENDING_APPROVAL',
  },
  other: {
    none: 'NOT_ROUTED',
    manager: 'NOT_ROUTED',
    root: 'NOT_ROUTED',
    escalated: 'NOT_ROUTED',
    decided: 'NOT_ROUTED',
  },
};

/** Has this caller the authority to decide? Whether there is anything to decide is the chart's to say. */
export const mayDecide = (
  context: WorkItemContext,
  state: ApprovalState,
  asker: Asker,
): Refusal | undefined =>
  answer(matrix[relationTo(context, asker)][columnOf(context, state, factsOf(asker))], context);

/**
 * The routed manager or the root escalates; the operator only where it holds the root's authority; the kernel
 * by time.
 */
export function mayEscalate(
  context: WorkItemContext,
  state: ApprovalState,
  asker: Asker,
): Refusal | undefined {
  const relation = relationTo(context, asker);
  const column = columnOf(context, state, factsOf(asker));
  if (relation === 'executive' && column !== 'none' && column !== 'decided')
    return answer('NOT_ROUTED', context);
  return answer(matrix[relation][column], context);
}

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

const noFacts: WorkItemFacts = { root: null, managers: [], executives: [], named: null };

export const factsOf = (event: { readonly facts?: WorkItemFacts }): WorkItemFacts => event.facts ?? noFacts;

/**
 * Whose it is: the assignee's, else the first attempt's employee's, else the creating session's employee's,
 * else no one's.
 */
export const ownerOf = (context: WorkItemContext): string | null =>
  context.assignee ?? context.firstAttemptEmployee ?? context.creator.employee;

/** The owner, or a session below one of the owner's. */
export function isOwner(context: WorkItemContext, by: Caller): boolean {
  if (by.type !== 'session') return false;
  const owner = ownerOf(context);
  if (owner !== null && by.employee === owner) return true;
  const own = ownerSessions(context);
  return own.includes(by.id) || by.ancestors.some((id) => own.includes(id));
}

/** A session that works on it, or works below one that does. */
export const isAttempt = (context: WorkItemContext, by: Caller): boolean =>
  by.type === 'session' &&
  context.attempts.some(({ sessionId }) => sessionId === by.id || by.ancestors.includes(sessionId));

export const isCreator = (context: WorkItemContext, by: Caller): boolean =>
  by.type === 'session' && context.creator.sessionId === by.id;

const isRoot = (facts: WorkItemFacts, by: Caller): boolean =>
  by.type === 'session' && by.employee !== null && by.employee === facts.root;

/** Stands somewhere above the owner, or is the root. */
export const isAbove = (facts: WorkItemFacts, by: Caller): boolean =>
  isRoot(facts, by) ||
  (by.type === 'session' && by.employee !== null && facts.managers.includes(by.employee));

/** Sessions that act for the owner: all attempts, and the creating one where it owns the item itself. */
function ownerSessions(context: WorkItemContext): readonly string[] {
  const attempts = context.attempts.map(({ sessionId }) => sessionId);
  const creatorOwns =
    context.assignee === null && context.firstAttemptEmployee === null && context.creator.sessionId !== null;
  return creatorOwns && context.creator.sessionId !== null
    ? [...attempts, context.creator.sessionId]
    : attempts;
}

/** To whom it is, or would be, routed. */
const routedTo = (context: WorkItemContext, facts: WorkItemFacts): string | null =>
  context.approval?.target ?? facts.managers[0] ?? null;

function columnOf(context: WorkItemContext, state: ApprovalState, facts: WorkItemFacts): Column {
  if (state === 'none' || context.approval === null) return 'none';
  if (state !== 'pending') return 'decided';
  if (context.approval.escalatedAt !== null) return 'escalated';
  const { target, targetKind } = context.approval;
  return targetKind !== 'employee' || target === null || target === facts.root ? 'root' : 'manager';
}

function answer(cell: Cell, context: WorkItemContext): Refusal | undefined {
  switch (cell) {
    case 'yes':
    case 'NO_PENDING_APPROVAL':
      return undefined;
    case 'OWN_APPROVAL':
      return refuse(cell, { workItemId: context.id });
    case 'NOT_ROUTED': {
      const target = context.approval?.target ?? null;
      return refuse(
        cell,
        { workItemId: context.id, approvalTarget: target },
        target === null
          ? undefined
          : `The approval of ${context.id} is routed to ${target}. They, or the root, must decide or escalate it.`,
      );
    }
  }
}
