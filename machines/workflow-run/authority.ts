import { isPerson, type Caller } from '../caller.js';
import { refuse, type Refusal } from '../refusals.js';
import { gateNamed } from './gates.js';
import type { ParkedGate, RunContext, RunFacts } from './context.js';

/**
 * How a caller is related to a run, and the matrix of who may decide its gates. The requester, and anyone who works in
 * the run, never decides about it.
 */
export type Relation =
  | 'operator'
  | 'system'
  | 'requester'
  | 'routed manager'
  | 'root'
  | 'executive'
  | 'other';

interface Asker {
  readonly by: Caller;
  readonly facts?: RunFacts | null;
}

const noFacts: RunFacts = { root: null, managers: [], executives: [], approvers: [], heads: [] };

export function relationTo(
  context: RunContext,
  gate: ParkedGate | undefined,
  { by, facts }: Asker,
): Relation {
  if (by.type === 'system') return 'system';
  if (isPerson(by) || by.type !== 'session') return 'operator';
  const { root, executives } = facts ?? noFacts;
  if (isRequester(context, by) || worksIn(context, by)) return 'requester';
  if (by.employee !== null && by.employee === root) return 'root';
  if (by.employee !== null && by.employee === gate?.target) return 'routed manager';
  return by.employee !== null && executives.includes(by.employee) ? 'executive' : 'other';
}

type Column = 'manager' | 'root' | 'escalated';
type Cell = 'yes' | 'OWN_APPROVAL' | 'NOT_ROUTED';

/**
 * Rows: the caller. Columns: routed to a manager · routed to the root · escalated.
 * @example gateMatrix.requester.manager // 'OWN_APPROVAL'
 */
export const gateMatrix: Readonly<Record<Relation, Readonly<Record<Column, Cell>>>> = {
  operator: { manager: 'NOT_ROUTED', root: 'yes', escalated: 'yes' },
  system: { manager: 'yes', root: 'yes', escalated: 'yes' },
  requester: { manager: 'OWN_APPROVAL', root: 'OWN_APPROVAL', escalated: 'OWN_APPROVAL' },
  'routed manager': { manager: 'yes', root: 'NOT_ROUTED', escalated: 'yes' },
  root: { manager: 'yes', root: 'yes', escalated: 'yes' },
  executive: { manager: 'NOT_ROUTED', root: 'NOT_ROUTED', escalated: 'yes' },
  other: { manager: 'NOT_ROUTED', root: 'NOT_ROUTED', escalated: 'NOT_ROUTED' },
};

export function mayDecideGate(
  context: RunContext,
  key: string | undefined,
  asked: Asker,
): Refusal | undefined {
  const found = gateNamed(context.steps, key);
  const cell =
    gateMatrix[relationTo(context, found?.[1], asked)][
      found === undefined ? 'escalated' : columnOf(found[1], asked.facts ?? noFacts)
    ];
  if (cell !== 'yes') {
    const target = found?.[1].target ?? null;
    return refuse(
      cell,
      { runId: context.id, approvalTarget: target },
      cell === 'OWN_APPROVAL'
        ? 'The requester of a run and the sessions in it cannot decide its gates.'
        : target === null
          ? undefined
          : `The gate of run ${context.id} is routed to ${target}. They, or the root, must decide or escalate it.`,
    );
  }
  return undefined;
}

function columnOf(gate: ParkedGate, { root }: RunFacts): Column {
  if (gate.escalatedAt !== null) return 'escalated';
  return gate.targetKind !== 'employee' || gate.target === null || gate.target === root ? 'root' : 'manager';
}

const isRequester = ({ requester }: RunContext, by: Caller): boolean =>
  by.type === 'session' &&
  (by.id === requester.sessionId ||
    (requester.sessionId !== null && by.ancestors.includes(requester.sessionId)) ||
    (by.employee !== null && by.employee === requester.employee));

/**
 * Who may cancel a run beside people: who asked for it, who may run its definition, the
 * root.
 */
export function isSteward(context: RunContext, { by, facts }: Asker): boolean {
  if (by.type !== 'session') return true;
  if (isRequester(context, by)) return true;
  const { employee } = by;
  return (
    employee !== null &&
    (context.stewards.includes(employee) ||
      facts?.heads.includes(employee) === true ||
      facts?.root === employee)
  );
}

/**
 * Who may write other words into a run: people, the definition's owner and who stands above it. No one who does a
 * step of it: they would tell the other steps what to do.
 */
export function mayRewrite(context: RunContext, { by, facts }: Asker): boolean {
  if (by.type !== 'session') return true;
  const { employee } = by;
  return (
    employee !== null &&
    !worksIn(context, by) &&
    (context.owner === employee || facts?.heads.includes(employee) === true || facts?.root === employee)
  );
}

/** A session that does a step of it, or works below one that does. */
const worksIn = ({ steps }: RunContext, by: Caller): boolean =>
  by.type === 'session' &&
  Object.values(steps).some(
    ({ worker }) => worker?.kind === 'session' && (worker.id === by.id || by.ancestors.includes(worker.id)),
  );
