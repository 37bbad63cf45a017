import type { WorkflowDefinition, WorkflowNode } from '../../../../machines/graph/definition.js';
import type { GraphFault } from '../../../../machines/graph/reader.js';
import { FlowGraph, type FlowNode } from '../../../inspector/page/parts/flow-graph.js';

/** The graph of a definition; a node with a fault says so. */
export function WorkflowGraph({
  definition,
  faults = [],
  warnings = [],
  ...graph
}: {
  readonly definition: WorkflowDefinition;
  readonly faults?: readonly GraphFault[];
  readonly warnings?: readonly GraphFault[];
  readonly chosen: string | undefined;
  readonly choose: (nodeId: string) => void;
  readonly hint: string;
}) {
  const edgeFrom = new Map(definition.edges.map(({ id, from }) => [id, from]));
  const nodeOf = ({ ref = '' }: GraphFault): string => edgeFrom.get(ref) ?? ref;
  const count = (list: readonly GraphFault[], id: string): number =>
    list.filter((fault) => nodeOf(fault) === id).length;
  return (
    <FlowGraph
      of="the workflow"
      nodes={definition.nodes.map((node): FlowNode => {
        const wrong = count(faults, node.id);
        const doubtful = count(warnings, node.id);
        const line = lineOf(node);
        return {
          id: node.id,
          label: node.label,
          line: wrong > 0 ? `${node.type}, ${wrong === 1 ? '1 fault' : `${wrong} faults`}` : line,
          tone: wrong > 0 ? 'bad' : doubtful > 0 || node.type === 'gate' ? 'wait' : 'rest',
          status: wrong > 0 ? 'fault' : doubtful > 0 ? 'warning' : 'sound',
        };
      })}
      edges={definition.edges}
      at={undefined}
      {...graph}
    />
  );
}

/** What a node is, in a few words. */
function lineOf(node: WorkflowNode): string {
  switch (node.type) {
    case 'trigger':
      return node.trigger.kind === 'schedule' ? `by the clock: ${node.trigger.cron}` : node.trigger.kind;
    case 'step': {
      const { actor } = node;
      if (actor.kind === 'employee' || actor.kind === 'engine') return actor.ref;
      if (actor.kind === 'connector-send') return `sends by ${actor.connector}`;
      if (actor.kind === 'http') return `${actor.method} ${actor.url}`;
      if (actor.kind === 'workflow') return `runs ${actor.workflowId}`;
      return actor.kind === 'work-item' ? `work item: ${actor.operation}` : 'does nothing';
    }
    case 'gate':
      return `waits for ${node.gate.kind === 'flag' ? 'a flag' : `an ${node.gate.kind}`}`;
    case 'wait':
      return node.waitMinutes === null ? `waits until ${node.waitUntil}` : `waits ${node.waitMinutes} min`;
    default:
      return node.type;
  }
}
