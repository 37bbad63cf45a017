import { fromKernel, isPerson, type Authority, type Caller } from '../caller.js';
import type { WorkflowDefinition } from '../graph/definition.js';
import type { GraphFault } from '../graph/reader.js';
import { refuse, type Refusal } from '../refusals.js';
import {
  readingOf,
  type WorkflowContext,
  type WorkflowEvent,
  type WorkflowEventOf,
  type WorkflowFacts,
  type WorkflowInput,
} from './context.js';

/**
 * Who may write which definition, and what may be written.
 *
 * People and the kernel write all. An agent writes where the owner is its employee, or the department one
 * that its employee manages, before and after the change; the root employee writes all others. Reading and
 * planning is for all.
 *
 * Answers the refusal, or undefined for yes; never throws.
 * @example
 *   const policy = (context: WorkflowContext, event: WorkflowEvent & Stamp) =>
 *     workflowPolicy(context, event, authorityOf(event));
 */
export function workflowPolicy(
  context: WorkflowContext,
  event: WorkflowEvent,
  authority: Authority,
): Refusal | undefined {
  if (fromKernel(event)) return undefined;
  switch (event.type) {
    case 'version.written':
      return authority.by.type === 'system' ? undefined : refuse('UNKNOWN_EVENT', { type: event.type });
    case 'version.decide':
      return mayDecide(context, event, authority.onBehalfOf);
    case 'definition.update':
      return mayUpdate(context, event, authority.onBehalfOf);
    default:
      return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/** Only a person lends rights, and only to the version that they have read: the newest. */
function mayDecide(
  { id, version, authority }: WorkflowContext,
  event: WorkflowEventOf<'version.decide'>,
  onBehalfOf: Caller,
): Refusal | undefined {
  if (!isPerson(onBehalfOf))
    return refuse(
      'PERSON_REQUIRED',
      { workflowId: id },
      'Only a person may approve a version of a workflow.',
    );
  if (event.version !== version)
    return refuse(
      'VERSION_CONFLICT',
      { currentVersion: version },
      `Version ${version} is the newest of workflow "${id}", not ${String(event.version)}.`,
    );
  if (!['approve', 'reject'].includes(event.decision))
    return refuse('BAD_REQUEST', { path: 'decision' }, 'The decision must be approve or reject.');
  return authority.state === 'approved' && event.decision === 'approve'
    ? refuse('CONFLICT', { workflowId: id, version }, 'This version is approved already.')
    : undefined;
}

function mayUpdate(
  context: WorkflowContext,
  event: WorkflowEventOf<'definition.update'>,
  onBehalfOf: Caller,
): Refusal | undefined {
  const outsider = mayWrite(onBehalfOf, context, event.facts?.managers.of, event.facts, context.id);
  if (outsider) return outsider; // before anything that would show its state
  const { definition, faults } = readingOf(event.definition, context.id);
  return (
    mayWrite(onBehalfOf, definition, event.facts?.managers.to, event.facts, context.id) ??
    staleness(context, event.expectedVersion) ??
    soundness(faults)
  );
}

/** Only a retired one takes no version. */
export const workflowNotInState = ({ id }: WorkflowContext): Refusal =>
  refuse(
    'CONFLICT',
    { workflowId: id, status: 'retired' },
    `workflow "${id}" is retired; duplicate it to continue`,
  );

/**
 * May a workflow be made of this input? A fault of its definition is refused with its place.
 * @example const validateInput = (input: WorkflowInput & { id: string }) => admitWorkflow(input);
 */
export function admitWorkflow(input: WorkflowInput & { readonly id?: string }): Refusal | undefined {
  const { by = { type: 'operator' } } = input;
  const given = input.definition as { readonly id?: unknown } | null;
  const { definition, faults } = readingOf(
    input.definition,
    typeof given?.id === 'string' ? given.id : 'workflow',
  );
  const unborn: GraphFault[] =
    definition.status === 'retired'
      ? [{ code: 'bad-status', message: 'a new definition must be active or paused', ref: 'status' }]
      : [];
  return (
    mayWrite(by, definition, input.facts?.managers.to, input.facts, definition.id) ??
    soundness([...faults, ...unborn])
  );
}

type Owned = Pick<WorkflowDefinition, 'owner' | 'department'>;

/** `managers` manage the department of `owned`. */
function mayWrite(
  by: Caller,
  owned: Owned,
  managers: readonly string[] = [],
  facts: WorkflowFacts | undefined,
  id: string,
): Refusal | undefined {
  if (by.type !== 'session') return undefined;
  const { employee } = by;
  if (
    employee !== null &&
    (owned.owner === employee ||
      (owned.department !== null && managers.includes(employee)) ||
      facts?.root === employee)
  )
    return undefined;
  const message =
    owned.owner === null && owned.department === null
      ? `workflow "${id}" does not declare owner/department authority: only the root or a person may write it`
      : `${employee === null ? 'a session without an employee' : `employee "${employee}"`} cannot write ` +
        `workflow "${id}": it belongs to ${owned.owner ?? `the department ${owned.department ?? ''}`}`;
  return refuse('FORBIDDEN', { workflowId: id, owner: owned.owner, department: owned.department }, message);
}

function staleness(context: WorkflowContext, expectedVersion: unknown): Refusal | undefined {
  if (expectedVersion === context.version) return undefined;
  if (expectedVersion === undefined)
    return refuse(
      'VERSION_CONFLICT',
      { currentVersion: context.version },
      `expectedVersion: must be the version that the change is based on; it is ${context.version} now`,
    );
  return refuse(
    'VERSION_CONFLICT',
    { currentVersion: context.version },
    `version conflict: expected ${String(expectedVersion)}, on disk ${context.version}`,
  );
}

/** Only what reads without a fault is stored. */
const soundness = (faults: readonly GraphFault[]): Refusal | undefined =>
  faults.length === 0
    ? undefined
    : refuse('WORKFLOW_INVALID', { errors: faults }, 'definition failed validation');
