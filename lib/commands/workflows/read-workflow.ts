import type { App } from '../app.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { namePlace } from '../../../machines/workflow/view.js';
import { definitionAt } from '../workflow-runs/definitions.js';
import type { GraphFault } from '../../../machines/graph/reader.js';

/** Reading workflows: the list, and the definition of any version. */

/** Why workflows are switched off, if they are. */
export function workflowsOff(app: App): Refusal | undefined {
  const { evidence } = app;
  if (evidence === undefined || evidence.configured) return undefined;
  return refuse(
    'WORKFLOWS_DISABLED',
    { evidenceConfigured: false, evidenceReason: evidence.reason },
    evidence.reason ?? undefined,
  );
}

export interface WorkflowPage {
  readonly definitions: readonly Json[];
  readonly evidenceConfigured: boolean;
  readonly evidenceReason?: string;
}

/** All of them, newest change first, at most 1,000. */
export async function listWorkflows(
  app: App,
  query: { readonly status?: string | undefined } = {},
): Promise<WorkflowPage> {
  const off = workflowsOff(app);
  if (off) return { definitions: [], evidenceConfigured: false, evidenceReason: off.message };
  const { items } = await app.supervisor.list('workflow', { index: 'all', limit: 1_000 });
  const definitions = items
    .map(({ row }) => row)
    .filter((row) => query.status === undefined || (row as { status?: Json }).status === query.status);
  return { definitions, evidenceConfigured: true };
}

/** The newest definition of a workflow, or that of a version. */
export async function readDefinition(
  app: App,
  id: string,
  version?: number,
): Promise<WorkflowDefinition | Refusal> {
  const off = workflowsOff(app);
  if (off) return off;
  const definition = await definitionAt(app, id, version);
  if (definition !== undefined) return definition;
  return refuse(
    'NOT_FOUND',
    { kind: 'workflow', id, ...(version !== undefined && { version }) },
    version === undefined ? `workflow "${id}" not found` : `workflow "${id}" has no version ${version}`,
  );
}

/** The versions, newest first: when and as what each was written. At most 100. */
export async function listVersions(app: App, id: string): Promise<readonly Json[] | Refusal> {
  const newest = await readDefinition(app, id);
  if (isRefusal(newest)) return newest;
  const rows = await app.supervisor.rows({ kind: 'workflow', id }, 'versions', { last: 100 });
  return [...rows].reverse().map(({ row }) => {
    const { version, title, status, updatedAt, nodes, edges } = row;
    return { version, title, status, updatedAt, nodeCount: nodes.length, edgeCount: edges.length };
  });
}

/** The id of the workflow of that name which is not retired. */
export async function workflowNamed({ supervisor }: App, name: string): Promise<string | undefined> {
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return undefined;
  return (await supervisor.list('workflow', { index: 'name', prefix: namePlace(name), limit: 1 })).items[0]
    ?.id;
}

/**
 * A patch replaces whole members of the stored definition. What it may not touch stands there as a member
 * that no definition has, and is refused with all other faults (`recordAt` names it).
 */
export function merged(
  stored: WorkflowDefinition,
  patch: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const fixed = Object.keys(patch).filter(
    (member) => fixedMembers.has(member) && patch[member] !== stored[member as keyof WorkflowDefinition],
  );
  const whole = {
    ...stored,
    ...patch,
    ...Object.fromEntries(fixed.map((member) => [member, stored[member as keyof WorkflowDefinition]])),
    ...Object.fromEntries(fixed.map((member) => [`patch.${member}`, 'fixed'])),
  };
  if (patch['loop'] === undefined || patch['edges'] !== undefined) return whole;
  // Edges that took their ceiling from the old loop take it from the new one.
  const ceiling = stored.loop?.maxRoundsPerRun ?? null;
  return {
    ...whole,
    edges: stored.edges.map((edge) =>
      edge.kind === 'loop' && edge.maxRounds === ceiling ? { ...edge, maxRounds: null } : edge,
    ),
  };
}

/** What a version is stamped with; callers cannot choose it. */
export const fixedMembers: ReadonlySet<string> = new Set([
  'id',
  'version',
  'createdBy',
  'createdAt',
  'updatedAt',
  'schemaVersion',
]);

/**
 * Workflows that run each other in a circle would start runs without end. Each definition alone cannot see
 * that, so it is looked for among those that are stored: the steps that lead back to the definition itself,
 * each as a fault of its own. Looks at 200 workflows at most; what calls further than that is held by the
 * runs' own depth.
 */
export async function callCircles(app: App, definition: WorkflowDefinition): Promise<readonly GraphFault[]> {
  const faults: GraphFault[] = [];
  for (const { nodeId, target } of callsOf(definition)) {
    // Its own call is a fault of the graph
    const path = target === definition.id ? undefined : await pathBack(app, target, definition.id);
    if (path !== undefined)
      faults.push({
        code: 'call-circle',
        message: `step "${nodeId}" runs "${target}", which leads back to "${definition.id}" via ${path.join(', ')}`,
        ref: nodeId,
      });
  }
  return faults;
}

/** The workflows on the way from one to another, or undefined. */
async function pathBack(app: App, start: string, goal: string): Promise<readonly string[] | undefined> {
  const paths = new Map<string, readonly string[]>([[start, [start]]]);
  for (const [id, path] of paths) {
    // a Map gives what is added while it is walked
    const found = await readDefinition(app, id);
    if (isRefusal(found) || found.status === 'retired') continue;
    for (const { target } of callsOf(found)) {
      if (target === goal) return path;
      if (!paths.has(target) && paths.size < workflowsMax) paths.set(target, [...path, target]);
    }
  }
  return undefined;
}

const workflowsMax = 200;

const callsOf = ({
  nodes,
}: WorkflowDefinition): readonly { readonly nodeId: string; readonly target: string }[] =>
  nodes.flatMap((node) =>
    node.type === 'step' && node.actor.kind === 'workflow'
      ? [{ nodeId: node.id, target: node.actor.workflowId }]
      : [],
  );
