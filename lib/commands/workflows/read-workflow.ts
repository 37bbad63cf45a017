import type { Desk } from '../desk.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import type { Json } from '../../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { namePlace } from '../../../machines/workflow/view.js';
import { definitionAt } from '../workflow-runs/definitions.js';

/** Reading workflows: the list, and the definition of any version. */

/** Why workflows are switched off, if they are. */
export function workflowsOff(desk: Desk): Refusal | undefined {
  const { evidence } = desk;
  if (evidence === undefined || evidence.configured) return undefined;
  return refuse('WORKFLOWS_DISABLED', { evidenceConfigured: false, evidenceReason: evidence.reason }, evidence.reason ?? undefined);
}

export interface WorkflowPage { readonly definitions: readonly Json[]; readonly evidenceConfigured: boolean; readonly evidenceReason?: string }

/** All of them, newest change first, at most 1,000. */
export async function listWorkflows(desk: Desk, query: { readonly status?: string | undefined } = {}): Promise<WorkflowPage> {
  const off = workflowsOff(desk);
  if (off) return { definitions: [], evidenceConfigured: false, evidenceReason: off.message };
  const { items } = await desk.supervisor.list('workflow', { index: 'all', limit: 1_000 });
  const definitions = items.map(({ row }) => row).filter((row) => query.status === undefined || (row as { status?: Json }).status === query.status);
  return { definitions, evidenceConfigured: true };
}

/** The newest definition of a workflow, or that of a version. */
export async function readDefinition(desk: Desk, id: string, version?: number): Promise<WorkflowDefinition | Refusal> {
  const off = workflowsOff(desk);
  if (off) return off;
  const definition = await definitionAt(desk, id, version);
  if (definition !== undefined) return definition;
  return refuse('NOT_FOUND', { kind: 'workflow', id, ...(version !== undefined && { version }) }, version === undefined ? `workflow "${id}" not found` : `workflow "${id}" has no version ${version}`);
}

/** The versions, newest first: when and as what each was written. At most 100. */
export async function listVersions(desk: Desk, id: string): Promise<readonly Json[] | Refusal> {
  const newest = await readDefinition(desk, id);
  if (isRefusal(newest)) return newest;
  const rows = await desk.supervisor.rows({ kind: 'workflow', id }, 'versions', { last: 100 });
  return [...rows].reverse().map(({ row }) => {
    const { version, title, status, updatedAt, nodes, edges } = row as unknown as WorkflowDefinition;
    return { version, title, status, updatedAt, nodeCount: nodes.length, edgeCount: edges.length };
  });
}

/** The id of the workflow of that name which is not retired. */
export async function workflowNamed({ supervisor }: Desk, name: string): Promise<string | undefined> {
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return undefined;
  return (await supervisor.list('workflow', { index: 'name', prefix: namePlace(name), limit: 1 })).items[0]?.id;
}
