import { tone } from '../../../page/parts/state.js';
import { FlowGraph, type FlowNode } from './flow-graph.js';
import type { Run } from './run-record.js';

type Definition = NonNullable<Run['definitionSnapshot']>;

/** The graph of a run: each node says what its newest receipt says; a click shows all of that. */
export function RunGraph({
  run,
  definition,
  ...graph
}: {
  readonly run: Run;
  readonly definition: Definition;
  /** Where the run is. */
  readonly at: string | undefined;
  readonly chosen: string | undefined;
  readonly choose: (nodeId: string) => void;
}) {
  const receipts = new Map(run.steps.map((step) => [step.nodeId, step]));
  const shown = ({ id, type, label }: Definition['nodes'][number]): FlowNode => {
    const receipt = receipts.get(id);
    const status =
      id === run.parked?.nodeId ? 'parked' : (receipt?.status ?? (type === 'trigger' ? 'fired' : 'pending'));
    const attempt = (receipt?.attempt ?? 0) > 1 ? `, attempt ${receipt?.attempt}` : '';
    return {
      id,
      label,
      line: `${type === 'step' ? status : `${type}, ${status === 'parked' ? 'waiting' : status}`}${attempt}`,
      tone: status === 'pending' ? 'rest' : tone(status),
      status,
    };
  };
  return (
    <FlowGraph
      of="the run"
      nodes={definition.nodes.map(shown)}
      edges={definition.edges}
      hint="A click on a step shows its receipt."
      {...graph}
    />
  );
}
