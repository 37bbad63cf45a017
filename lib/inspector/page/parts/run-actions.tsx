import { readOnly } from '../../../page/base.js';
import { ask } from '../../../page/ask.js';
import { useAction } from '../../../page/action.js';
import { go } from '../place.js';
import { reachable } from '../../../../machines/graph/order.js';
import { CancelRun, keyOfRun } from './run-queue.js';
import { OutcomeLine } from './outcome-line.js';
import { CompareWith } from './run-compare.js';
import type { Run } from './run-record.js';

/** End a run that goes on, or run it again from a step in a new run that keeps what came before. */
export function RunActions({
  run,
  workflow,
  path,
  decided,
  node,
}: {
  readonly run: Run;
  readonly workflow: string;
  readonly path: string;
  /** Under it is reported what came of a decision at its gate: the gate's own panel goes with it. */
  readonly decided: string | undefined;
  /** The step that is chosen. */
  readonly node: { readonly id: string; readonly label: string } | undefined;
}) {
  const { message, busy, attempt } = useAction();
  const isOver = run.endedAt !== null;
  const mayAct = readOnly === undefined;
  const again = (): Promise<void> =>
    attempt(async () => {
      const { runId } = await ask<Run>(`${path}/rerun`, { post: { nodeId: node?.id } });
      go({ view: 'runs', workflow, id: runId });
    }, 'Starting …');
  return (
    <div class="run-actions">
      {!isOver && !run.queued && <CancelRun id={run.runId} path={path} />}
      {!run.queued && <OutcomeLine of={keyOfRun(run.runId)} />}
      {decided !== undefined && run.parked === null && <OutcomeLine of={decided} />}
      {mayAct && isOver && node !== undefined && (
        <button type="button" disabled={busy} onClick={() => void again()}>
          Run again from {node.label}
        </button>
      )}
      {mayAct && isOver && node !== undefined && <Redone run={run} from={node.id} />}
      <CompareWith workflow={workflow} id={run.runId} />
      {message !== '' && (
        <span class={busy ? 'soft' : 'bad'} role="alert">
          {message}
        </span>
      )}
    </div>
  );
}

/** What a run from a step on does again, and what it takes over from this one. */
function Redone({ run, from }: { readonly run: Run; readonly from: string }) {
  const { nodes = [], edges = [] } = run.definitionSnapshot ?? {};
  const after = reachable(
    [from],
    edges.filter(({ kind }) => kind !== 'loop'),
  );
  const steps = nodes.filter(({ type }) => type !== 'trigger');
  const labelled = (again: boolean): string =>
    steps
      .filter(({ id }) => after.has(id) === again)
      .map(({ label }) => label)
      .join(', ');
  return (
    <p class="soft small redone">
      Done again: {labelled(true)}. {labelled(false) !== '' && `Kept as they are: ${labelled(false)}.`}
    </p>
  );
}
