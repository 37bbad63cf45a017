import { asJson, type Json } from '../../machines/outputs.js';
import { checkShape } from '../../machines/shape.js';
import type {
  EvidenceInput,
  EvidenceOutput,
  WorkflowContext,
  WorkflowFacts,
} from '../../machines/workflow/context.js';
import { workflowMachine } from '../../machines/workflow/machine.js';
import { admitWorkflow, workflowNotInState, workflowPolicy } from '../../machines/workflow/policy.js';
import {
  statusOf,
  workflowIndex,
  workflowView,
  type WorkflowView,
  workflowWaiting,
} from '../../machines/workflow/view.js';
import type { AtLeastOnceEffect } from '../contracts.js';
import { defineKind } from '../define-kind.js';
import { versionAuthorityBefore, versionFacts } from './version-facts.js';
import { managersOf, rootOf, rosterOf, type Roster } from '../work-item/facts.js';

/**
 * Workflows as a kind: `workflowKind({evidence})`. Without that effect nothing is written beside the store.
 */
export function workflowKind(
  options: { readonly evidence?: AtLeastOnceEffect<EvidenceInput, EvidenceOutput> } = {},
) {
  return defineKind({
    kind: 'workflow',
    version: 3,
    migrate: {
      /** Its chart says when, and no longer who; states and context are the same. */
      1: (old) => old,
      2: (old) => ({
        ...old,
        context: { ...old.context, authority: versionAuthorityBefore(old.context) },
      }),
    },
    machine: workflowMachine,
    effects: { evidence: options.evidence ?? unwritten },
    policy: ({ context }, event, authority) => workflowPolicy(context, event, authority),
    notInState: ({ context }) => workflowNotInState(context),
    validateInput: (input) => admitWorkflow(input),
    facts: (snapshot, event, world) => asJson(workflowFacts(snapshot?.context, event, world['roster'])),
    view: ({ value, context }) => workflowView(value, context) as WorkflowView & Json,
    index: ({ value, context }) => workflowIndex(value, context),
    waitingFor: ({ value, context }) => workflowWaiting(statusOf(value), context),
    indexVersion: 1,
    totals: ({ value }) => [statusOf(value)],
    keptInBundles: (
      'id version kind type status from to fromStatus toStatus source lane onError on ' +
      'output mode switchMode ref cron timezone waitUntil until cadence approvalRef ' +
      'orchestrator op path event state digest createdBy updatedBy writtenBy approvedBy owner ' +
      'department runners root of above workflowId connector engine model effort employee ' +
      'assignee role method flag required'
    ).split(' '),
    validateContext: checkShape({
      id: 'string',
      name: 'string',
      title: 'string',
      version: 'number',
      owner: 'string?',
      department: 'string?',
      runners: 'array',
      concurrency: 'number',
      trigger: 'object',
      nodeCount: 'number',
      edgeCount: 'number',
      createdBy: 'string',
      createdAt: 'number',
      updatedBy: 'string',
      updatedAt: 'number',
      authority: 'object',
      evidence: 'object',
    }),
    startsWork: ['definition.update'],
  });
}

const unwritten: AtLeastOnceEffect<EvidenceInput, EvidenceOutput> = {
  guarantee: 'at-least-once',
  run: async ({ version }) => ({ version }),
};

/** Who manages the department that a definition belongs to, before and after a write. */
function workflowFacts(
  context: WorkflowContext | undefined,
  event: { readonly type: string },
  roster: unknown,
): WorkflowFacts {
  const { definition, input } = event as {
    readonly definition?: { readonly department?: unknown };
    readonly input?: { readonly definition?: { readonly department?: unknown } };
  };
  const known = rosterOf(roster);
  const written = definition ?? input?.definition;
  const managers = (department: unknown): readonly string[] =>
    known === undefined || typeof department !== 'string' ? [] : departmentManagers(known, department);
  return {
    root: known === undefined ? null : rootOf(known),
    managers: {
      of: managers(context?.department),
      to: managers(written?.department),
    },
    ...(written !== undefined && versionFacts(known, written)),
  };
}

/** The managers and executives of a department, and who stands above them. */
export function departmentManagers(roster: Roster, department: string): readonly string[] {
  const own = roster.employees
    .filter(
      (employee) =>
        employee.department === department && (employee.rank === 'manager' || employee.rank === 'executive'),
    )
    .map(({ name }) => name);
  return [...new Set([...own, ...own.flatMap((name) => managersOf(roster, name))])];
}
