import { ask } from '../../../page/ask.js';
import { useAction } from '../../../page/action.js';
import { go } from '../place.js';
import type { Run } from './run-record.js';

/** End a run that goes on, or run it again from a step in a new run that keeps what came before. */
export function RunActions({
  run,
  workflow,
  path,
  node,
}: {
  readonly run: Run;
  readonly workflow: string;
  readonly path: string;
  /** The step that is chosen. */
  readonly node: { readonly id: string; readonly label: string } | undefined;
}) {
  const { message, busy, attempt } = useAction();
  const isOver = run.endedAt !== null;
  const again = (): Promise<void> =>
    attempt(async () => {
      const { runId } = await ask<Run>(`${path}/rerun`, { post: { nodeId: node?.id } });
      go({ view: 'runs', workflow, id: runId });
    }, 'Starting …');
  return (
    <p class="run-actions">
      {!isOver && !run.queued && (
        <button
          type="button"
          disabled={busy}
          onClick={() => void attempt(() => ask(`${path}/cancel`, { post: {} }))}
        >
          Cancel this run
        </button>
      )}
      {isOver && node !== undefined && (
        <button type="button" disabled={busy} onClick={() => void again()}>
          Run again from {node.label}
        </button>
      )}
      {message !== '' && (
        <span class={busy ? 'soft' : 'bad'} role="alert">
          {message}
        </span>
      )}
    </p>
  );
}
