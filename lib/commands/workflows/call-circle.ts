import { readDefinition } from './read-workflow.js';
import type { Desk } from '../desk.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import type { GraphFault } from '../../../machines/graph/reader.js';
import { isRefusal } from '../../../machines/refusals.js';

/**
 * Workflows that run each other in a circle would start runs without end. Each definition alone cannot see that, so it is
 * looked for among those that are stored: the steps that lead back to the definition itself, each as a fault of its own.
 * Looks at 200 workflows at most; what calls further than that is held by the runs' own depth.
 */
export async function callCircles(desk: Desk, definition: WorkflowDefinition): Promise<readonly GraphFault[]> {
  const faults: GraphFault[] = [];
  for (const { nodeId, target } of callsOf(definition)) {
    const way = target === definition.id ? undefined : await wayBack(desk, target, definition.id); // its own call is a fault of the graph
    if (way !== undefined) faults.push({ code: 'call-circle', message: `step "${nodeId}" runs "${target}", which comes back to "${definition.id}" by way of ${way.join(', ')}`, ref: nodeId });
  }
  return faults;
}

/** The workflows on the way from one to another, or undefined. */
async function wayBack(desk: Desk, start: string, goal: string): Promise<readonly string[] | undefined> {
  const ways = new Map<string, readonly string[]>([[start, [start]]]);
  for (const [id, way] of ways) { // a Map gives what is added while it is walked
    const found = await readDefinition(desk, id);
    if (isRefusal(found) || found.status === 'retired') continue;
    for (const { target } of callsOf(found)) {
      if (target === goal) return way;
      if (!ways.has(target) && ways.size < workflowsMax) ways.set(target, [...way, target]);
    }
  }
  return undefined;
}

const workflowsMax = 200;

const callsOf = ({ nodes }: WorkflowDefinition): readonly { readonly nodeId: string; readonly target: string }[] =>
  nodes.flatMap((node) => (node.type === 'step' && node.actor.kind === 'workflow' ? [{ nodeId: node.id, target: node.actor.workflowId }] : []));
