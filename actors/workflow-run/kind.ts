import { checkShape } from '../../machines/shape.js';
import type { RunFacts, RunInput } from '../../machines/workflow-run/context.js';
import { gatesOf, graphOf } from '../../machines/workflow-run/graph.js';
import { workflowRunMachine } from '../../machines/workflow-run/machine.js';
import { admitRun, runNotInState, runPolicy } from '../../machines/workflow-run/policy.js';
import { stepsAsMachines } from '../../machines/workflow-run/migrate.js';
import { runIndex, runView, type RunView, runWaiting } from '../../machines/workflow-run/view.js';
import { runStatus } from '../../machines/workflow-run/step-run.js';
import { runAwaits, runMoves } from '../../machines/workflow-run/why.js';
import { asJson, type Json } from '../../machines/outputs.js';
import type { EffectContext } from '../contracts.js';
import { defineKind } from '../define-kind.js';
import { runPanels } from './panels.js';
import { workflowEvidenceEffect } from './evidence.js';
import type { WorkflowPorts } from './ports.js';
import { workflowActEffect, workflowStepEffect } from './step.js';
import { managersOf, rootOf, rosterOf } from '../work-item/facts.js';
import { departmentManagers } from '../workflow/kind.js';

/** Runs of workflows as a kind: `workflowRunKind({ports: ({supervisor}) => workflowPorts({...parts, supervisor})})`. */
export function workflowRunKind({ ports }: { readonly ports: (context: EffectContext) => WorkflowPorts }) {
  return defineKind({
    kind: 'workflow-run',
    version: 3,
    migrate: {
      1: stepsAsMachines,
      /** With whose rights it acts is looked up in its log. */
      2: (old) => ({ ...old, context: { ...old.context, authority: null, owner: null } }),
    },
    machine: workflowRunMachine,
    effects: {
      'workflow-step': workflowStepEffect(ports),
      'workflow-act': workflowActEffect(ports),
      'workflow-evidence': workflowEvidenceEffect(ports),
    },
    policy: (snapshot, event, authority) => runPolicy(snapshot.context, event, authority),
    notInState: (snapshot, event) => runNotInState(snapshot, event),
    validateInput: (input) => admitRun(input),
    facts: (snapshot, event, world) =>
      asJson(
        runFacts(
          snapshot === undefined
            ? ((event as { input?: unknown }).input as RunInput | undefined)
            : {
                graph: graphOf(snapshot.context),
                requester: snapshot.context.requester,
                department: snapshot.context.department,
              },
          event.type,
          world['roster'],
        ),
      ),
    // Plain members only
    view: (snapshot, { revision: rev }) => runView(snapshot, rev) as RunView & { [member: string]: Json },
    index: (snapshot) => runIndex(snapshot),
    waitingFor: (snapshot) => runWaiting(snapshot),
    panels: (snapshot) => runPanels(snapshot),
    indexVersion: 1,
    moves: (snapshot) => runMoves(snapshot),
    // The kernel hands back what `facts` above made
    awaits: (snapshot, facts) => runAwaits(snapshot, facts as RunFacts | null),
    totals: (snapshot) => [runStatus(snapshot.value)],
    redacted: ['text', 'prompt', 'finalMessage', 'summary', 'notes'],
    keptInBundles: (
      'id workflowId runId nodeId gateId gateKey kind type state status outcome decision source ' +
      'event targetKind target approver approvers requestedBy startedBy actor owner stewards ' +
      'department executives heads managers root onError on by code ref lane follow mode wants ' +
      'loopExit edgeStates evidence extractedFrom graph truths loops steps edited from to op ' +
      'cron onBehalfOf employee sessionId workItemId session path'
    ).split(' '),
    validateContext: checkShape({
      id: 'string',
      workflowId: 'string',
      definitionVersion: 'number',
      title: 'string',
      graph: 'string',
      trigger: 'object',
      authority: 'object?',
      startedAt: 'number',
      updatedAt: 'number',
      endedAt: 'number?',
      steps: 'object',
      edgeStates: 'string',
      truths: 'object',
      rounds: 'number',
      loops: 'object',
      receipts: 'number',
      settled: 'number',
      edited: 'array',
      decisions: 'array',
      errors: 'array',
      evidence: 'string',
      continuing: 'boolean',
    }),
    supervision: { strategy: 'one_for_one', restart: 'transient' },
  });
}

/** Who may be asked to decide, or may steer: only for events that need to know. */
function runFacts(
  run: Pick<RunInput, 'graph' | 'requester' | 'department'> | undefined,
  event: string,
  known: unknown,
): RunFacts | null {
  if (run === undefined) return null;
  const steers = event === 'run.cancel' || event === 'step.edit';
  if (!steers && !run.graph.nodes.some((node) => gatesOf(node).length > 0)) return null;
  const roster = rosterOf(known);
  if (roster === undefined) return { root: null, managers: [], executives: [], approvers: [], heads: [] };
  const named = run.graph.nodes.flatMap((node) => gatesOf(node).map(({ approver }) => approver));
  return {
    root: rootOf(roster),
    managers: run.requester.employee === null ? [] : managersOf(roster, run.requester.employee),
    executives: roster.employees.filter(({ rank }) => rank === 'executive').map(({ name }) => name),
    approvers: roster.employees.filter(({ name }) => named.includes(name)).map(({ name }) => name),
    heads: steers && run.department != null ? departmentManagers(roster, run.department) : [],
  };
}
