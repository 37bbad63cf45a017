import { callCircles, readDefinition, workflowsOff, merged } from './read-workflow.js';
import type { App } from '../app.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import { differenceOf, type DefinitionDifference } from '../../../machines/graph/difference.js';
import { isDraft, noSteps } from '../../../machines/graph/liveness.js';
import { executionPlan, type ExecutionPlan } from '../../../machines/graph/plan.js';
import { parseDefinition } from '../../../machines/graph/read-definition.js';
import type { GraphFault } from '../../../machines/graph/reader.js';
import { definitionOfSop } from '../../../machines/graph/sop.js';
import { isoTime } from '../../../machines/sortable.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';

/** What someone has in mind: a definition, a procedure, or a change of a stored one. */
export interface PlanInput {
  readonly definition?: Readonly<Record<string, unknown>> | undefined;
  readonly sop?: Readonly<Record<string, unknown>> | undefined;
  readonly workflowId?: string | undefined;
  readonly patch?: Readonly<Record<string, unknown>> | undefined;
}

export interface WorkflowPlan {
  readonly ok: boolean;
  readonly definition: WorkflowDefinition;
  readonly layout: {
    readonly diagnostics: readonly unknown[];
    /** The definition as it would be saved, with every node in its place. */
    readonly normalizedPreview: WorkflowDefinition;
  };
  readonly validation: { readonly ok: boolean; readonly errors: readonly GraphFault[] };
  readonly liveness: { readonly ok: boolean; readonly findings: readonly GraphFault[] };
  readonly execution: {
    readonly ok: boolean;
    readonly plan?: ExecutionPlan;
    readonly errors?: readonly GraphFault[];
  };
  /** What does not stop it from being saved, but its runs. */
  readonly warnings: readonly GraphFault[];
  /** To what is stored under its id; null: nothing is. */
  readonly diff: DefinitionDifference | null;
}

/** Try a definition; saves nothing. `await planWorkflow(app, {definition})` */
export async function planWorkflow(app: App, input: PlanInput): Promise<WorkflowPlan | Refusal> {
  const off = workflowsOff(app);
  if (off) return off;
  const id = input.workflowId ?? idIn(input.definition ?? input.sop);
  const stored = id === undefined ? undefined : await readDefinition(app, id);
  if (input.workflowId !== undefined && isRefusal(stored)) return stored;
  const known = stored === undefined || isRefusal(stored) ? undefined : stored;
  const written =
    input.definition ??
    (input.sop === undefined ? undefined : definitionOfSop(input.sop)) ??
    (known === undefined ? {} : merged(known, input.patch ?? {}));
  return planOf(app, written, known);
}

/** The plan of what is stored. */
export async function planStored(app: App, id: string): Promise<WorkflowPlan | Refusal> {
  const stored = await readDefinition(app, id);
  return isRefusal(stored) ? stored : planOf(app, stored, stored);
}

async function planOf(
  app: App,
  written: unknown,
  stored: WorkflowDefinition | undefined,
): Promise<WorkflowPlan> {
  const now = isoTime(app.supervisor.environment.clock.now());
  const stamp =
    stored === undefined
      ? { createdAt: now, updatedAt: now }
      : {
          id: stored.id,
          version: stored.version,
          createdBy: stored.createdBy,
          createdAt: stored.createdAt,
          updatedAt: stored.updatedAt,
        };
  const { definition, faults: own, liveness: inside, diagnostics } = parseDefinition(written, { stamp });
  const circles = await callCircles(app, definition);
  const [faults, liveness] = [
    [...own, ...circles],
    [...inside, ...circles],
  ];
  const ok = faults.length === 0;
  return {
    ok,
    definition,
    layout: {
      diagnostics,
      normalizedPreview: definition,
    },
    validation: { ok, errors: faults },
    liveness: { ok: liveness.length === 0, findings: liveness },
    execution: executionOf(definition, faults),
    warnings: await warningsOf(app, definition),
    diff: stored === undefined ? null : differenceOf(stored, definition),
  };
}

/** A draft, which has no step yet, may be saved and does not run. */
function executionOf(
  definition: WorkflowDefinition,
  faults: readonly GraphFault[],
): WorkflowPlan['execution'] {
  const errors = isDraft(definition) ? [...faults, noSteps] : faults;
  return errors.length > 0 ? { ok: false, errors } : { ok: true, plan: executionPlan(definition) };
}

/** Names in it that mean no one here, today. */
async function warningsOf(
  app: App,
  { nodes, owner, orchestrator, runners }: WorkflowDefinition,
): Promise<readonly GraphFault[]> {
  const people = app.roster?.()?.employees.map(({ name }) => name);
  const { engines } = await app.engines.list();
  const warnings: GraphFault[] = [];
  const person = (name: string, ref: string): void => {
    if (people !== undefined && !people.includes(name))
      warnings.push({ code: 'unknown-employee', message: `unknown employee "${name}"`, ref });
  };
  if (owner !== null) person(owner, 'owner');
  if (orchestrator !== null) person(orchestrator, 'orchestrator');
  for (const runner of runners) person(runner, 'runners');
  for (const node of nodes) {
    if (node.type !== 'step') continue;
    if (node.actor.kind === 'employee') person(node.actor.ref, node.id);
    if (node.actor.kind === 'engine' && engines[node.actor.ref] === undefined)
      warnings.push({
        code: 'unknown-engine',
        message: `unknown engine "${node.actor.ref}"`,
        ref: node.id,
      });
    if (node.actor.kind === 'connector-send') {
      const { connector } = node.actor;
      const known =
        connector.includes('{{') || app.connectors?.instances().some(({ name }) => name === connector);
      if (known === false)
        warnings.push({
          code: 'unknown-connector',
          message: `unknown connector "${connector}"`,
          ref: node.id,
        });
    }
    if (node.actor.kind === 'workflow') {
      const target = await readDefinition(app, node.actor.workflowId);
      if (isRefusal(target) || target.status === 'retired')
        warnings.push({
          code: 'unknown-workflow',
          message: `unknown workflow "${node.actor.workflowId}"`,
          ref: node.id,
        });
    }
  }
  return warnings;
}

const idIn = (value: Readonly<Record<string, unknown>> | undefined): string | undefined =>
  typeof value?.['id'] === 'string' ? value['id'] : undefined;
