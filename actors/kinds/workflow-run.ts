import { checkShape } from '../../machines/shape.js';
import type { RunFacts, RunInput } from '../../machines/workflow-run/context.js';
import { gatesOf, graphOf } from '../../machines/workflow-run/graph.js';
import { workflowRunMachine } from '../../machines/workflow-run/machine.js';
import { admitRun, runPolicy } from '../../machines/workflow-run/policy.js';
import { runIndex, runView, type RunView } from '../../machines/workflow-run/view.js';
import { runAwaits, runMoves } from '../../machines/workflow-run/why.js';
import type { Json } from '../../machines/ground.js';
import type { Kind } from '../contracts.js';
import { workflowEvidenceHand } from '../effects/workflow-evidence.js';
import type { WorkflowPorts } from '../effects/workflow-ports.js';
import { workflowActHand, workflowStepHand } from '../effects/workflow-step.js';
import { managersOf, rootOf, rosterOf } from './work-item-facts.js';
import { departmentManagers } from './workflow.js';

/** Runs of workflows as a kind: `workflowRunKind({ports})`. */
export function workflowRunKind({ ports }: { readonly ports: WorkflowPorts }): Kind<typeof workflowRunMachine, RunView & { [member: string]: Json }> {
  return {
    kind: 'workflow-run',
    version: 1,
    machine: workflowRunMachine,
    hands: { 'workflow-step': workflowStepHand(ports), 'workflow-act': workflowActHand(ports), 'workflow-evidence': workflowEvidenceHand(ports) },
    policy: (snapshot, event) => runPolicy(snapshot.context, event),
    admit: (input) => admitRun(input as unknown as RunInput), // the kernel hands inputs on as JSON; the command has made this one
    facts: (snapshot, event, world) => runFacts(snapshot === undefined ? (event as { input?: unknown }).input as RunInput | undefined : { graph: graphOf(snapshot.context), requester: snapshot.context.requester, department: snapshot.context.department }, event.type, world['roster']) as unknown as Json, // plain members only
    view: (snapshot, { rev }) => runView(snapshot.context, rev) as RunView & { [member: string]: Json }, // plain members only
    index: (snapshot) => runIndex(snapshot.context),
    moves: (snapshot) => runMoves(snapshot.context),
    awaits: (snapshot, facts) => runAwaits(snapshot.context, facts as unknown as RunFacts | null), // the kernel hands back what `facts` above made
    counts: (snapshot) => [snapshot.context.status],
    contents: ['text', 'prompt', 'finalMessage', 'summary', 'notes'],
    check: checkShape({
      id: 'string', workflowId: 'string', definitionVersion: 'number', title: 'string', graph: 'string', trigger: 'object', status: 'string', startedAt: 'number',
      updatedAt: 'number', endedAt: 'number?', spots: 'object', paths: 'string', truths: 'object', gates: 'object', rounds: 'number', loops: 'object',
      receipts: 'number', settled: 'number', edited: 'array', decisions: 'array', errors: 'array', evidence: 'string', queued: 'boolean', continuing: 'boolean',
    }),
    supervision: { strategy: 'one_for_one', restart: 'transient' },
  };
}

/** Who may be asked to decide, or may steer: only for events that need to know. */
function runFacts(run: Pick<RunInput, 'graph' | 'requester' | 'department'> | undefined, event: string, known: unknown): RunFacts | null {
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
