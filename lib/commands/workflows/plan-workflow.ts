import { callCircles } from './call-circle.js';
import { readDefinition, workflowsOff } from './read-workflow.js';
import type { Desk } from '../desk.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import { differenceOf, type DefinitionDifference } from '../../../machines/graph/difference.js';
import { executionPlan, type ExecutionPlan } from '../../../machines/graph/plan.js';
import { parseDefinition } from '../../../machines/graph/read-definition.js';
import type { GraphFault } from '../../../machines/graph/reader.js';
import { definitionOfSop } from '../../../machines/graph/sop.js';
import { isoTime } from '../../../machines/iso-time.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { merged } from './merged.js';

/** What somebody has in mind: a definition, a procedure, or a change of a stored one. */
export interface PlanWish {
  readonly definition?: Readonly<Record<string, unknown>> | undefined;
  readonly sop?: Readonly<Record<string, unknown>> | undefined;
  readonly workflowId?: string | undefined;
  readonly patch?: Readonly<Record<string, unknown>> | undefined;
}

export interface WorkflowPlan {
  readonly ok: boolean;
  readonly definition: WorkflowDefinition;
  readonly layout: { readonly diagnostics: readonly unknown[]; readonly normalizedPreview: { readonly nodes: Readonly<Record<string, { readonly x: number; readonly y: number }>> } };
  readonly validation: { readonly ok: boolean; readonly errors: readonly GraphFault[] };
  readonly liveness: { readonly ok: boolean; readonly findings: readonly GraphFault[] };
  readonly execution: { readonly ok: boolean; readonly plan?: ExecutionPlan; readonly errors?: readonly GraphFault[] };
  /** What does not stop it from being saved, but its runs. */
  readonly warnings: readonly GraphFault[];
  /** To what is stored under its id; null: nothing is. */
  readonly diff: DefinitionDifference | null;
}

/** Try a definition; saves nothing. `await planWorkflow(desk, {definition})` */
export async function planWorkflow(desk: Desk, wish: PlanWish): Promise<WorkflowPlan | Refusal> {
  const off = workflowsOff(desk);
  if (off) return off;
  const id = wish.workflowId ?? idIn(wish.definition ?? wish.sop);
  const stored = id === undefined ? undefined : await readDefinition(desk, id);
  if (wish.workflowId !== undefined && isRefusal(stored)) return stored;
  const known = stored === undefined || isRefusal(stored) ? undefined : stored;
  const written = wish.definition ?? (wish.sop === undefined ? undefined : definitionOfSop(wish.sop)) ?? (known === undefined ? {} : merged(known, wish.patch ?? {}));
  return planOf(desk, written, known);
}

/** The plan of what is stored. */
export async function planStored(desk: Desk, id: string): Promise<WorkflowPlan | Refusal> {
  const stored = await readDefinition(desk, id);
  return isRefusal(stored) ? stored : planOf(desk, stored, stored);
}

async function planOf(desk: Desk, written: unknown, stored: WorkflowDefinition | undefined): Promise<WorkflowPlan> {
  const now = isoTime(desk.supervisor.world.now());
  const stamp = stored === undefined ? { createdAt: now, updatedAt: now } : { id: stored.id, version: stored.version, createdBy: stored.createdBy, createdAt: stored.createdAt, updatedAt: stored.updatedAt };
  const { definition, faults: own, liveness: inside, diagnostics } = parseDefinition(written, { stamp });
  const circles = await callCircles(desk, definition);
  const [faults, liveness] = [[...own, ...circles], [...inside, ...circles]];
  const ok = faults.length === 0;
  return {
    ok,
    definition,
    layout: { diagnostics, normalizedPreview: { nodes: Object.fromEntries(definition.nodes.map(({ id, position }) => [id, position])) } },
    validation: { ok, errors: faults },
    liveness: { ok: liveness.length === 0, findings: liveness },
    execution: ok ? { ok, plan: executionPlan(definition) } : { ok, errors: faults },
    warnings: await warningsOf(desk, definition),
    diff: stored === undefined ? null : differenceOf(stored, definition),
  };
}

/** Names in it that mean nobody here, today. */
async function warningsOf(desk: Desk, { nodes, owner, orchestrator, runners }: WorkflowDefinition): Promise<readonly GraphFault[]> {
  const people = desk.roster?.()?.employees.map(({ name }) => name);
  const { engines } = await desk.engines.list();
  const warnings: GraphFault[] = [];
  const person = (name: string, ref: string): void => {
    if (people !== undefined && !people.includes(name)) warnings.push({ code: 'unknown-employee', message: `there is no employee "${name}"`, ref });
  };
  if (owner !== null) person(owner, 'owner');
  if (orchestrator !== null) person(orchestrator, 'orchestrator');
  for (const runner of runners) person(runner, 'runners');
  for (const node of nodes) {
    if (node.type !== 'step') continue;
    if (node.actor.kind === 'employee') person(node.actor.ref, node.id);
    if (node.actor.kind === 'engine' && engines[node.actor.ref] === undefined) warnings.push({ code: 'unknown-engine', message: `there is no engine "${node.actor.ref}"`, ref: node.id });
    if (node.actor.kind === 'connector-send') {
      const { connector } = node.actor;
      const known = connector.includes('{{') || desk.connectors?.instances().some(({ name }) => name === connector);
      if (known === false) warnings.push({ code: 'unknown-connector', message: `there is no connector "${connector}"`, ref: node.id });
    }
    if (node.actor.kind === 'workflow') {
      const target = await readDefinition(desk, node.actor.workflowId);
      if (isRefusal(target) || target.status === 'retired') warnings.push({ code: 'unknown-workflow', message: `there is no workflow "${node.actor.workflowId}" to run`, ref: node.id });
    }
  }
  return warnings;
}

const idIn = (value: Readonly<Record<string, unknown>> | undefined): string | undefined => (typeof value?.['id'] === 'string' ? value['id'] : undefined);
