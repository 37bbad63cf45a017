import { readOnly } from '../../../page/base.js';
import { useAction } from '../../../page/action.js';
import { ask } from '../../../page/ask.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';

/** A run that waits for room says for which runs, how many are before it, and can be cancelled. */
export function RunQueue({
  workflow,
  id,
  path,
}: {
  readonly workflow: string;
  readonly id: string;
  readonly path: string;
}) {
  const { message, busy, attempt } = useAction();
  const loaded = useLoaded(
    `queue ${workflow}`,
    async (signal) => {
      const runs = `/api/workflow-definitions/${encodeURIComponent(workflow)}/runs`;
      const pages = await Promise.all(
        ['running', 'parked'].map((status) =>
          ask<{ readonly runs: readonly Live[] }>(`${runs}?status=${status}&limit=100`, { signal }),
        ),
      );
      return pages.flatMap((page) => page.runs);
    },
    { touches: ({ entries }) => entries.some(({ kind }) => kind === 'workflow-run') },
  );
  const oldestFirst = [...(loaded.value.value ?? [])].sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  const queue = oldestFirst.filter(({ queued }) => queued);
  const ahead = oldestFirst.filter(({ queued }) => !queued);
  const before = queue.findIndex(({ runId }) => runId === id);
  return (
    <section class="panel gate-panel" aria-labelledby="queue-title">
      <h2 id="queue-title">
        Queued
        {before >= 0 && (
          <span class="soft">
            number {before + 1} of {queue.length}
          </span>
        )}
      </h2>
      <p>
        Its workflow runs no more at once. It starts when{' '}
        {ahead.length > 1 ? 'one of these ends' : 'this run ends'}:
      </p>
      <ul class="relations">
        {ahead.slice(0, shownMax).map(({ runId, title, status }) => (
          <li key={runId}>
            <a href={linkTo({ view: 'runs', workflow, id: runId })}>{title}</a>
            <small class="soft">
              {status}, {runId}
            </small>
          </li>
        ))}
      </ul>
      {readOnly === undefined && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void attempt(() => ask(`${path}/cancel`, { post: {} }));
          }}
        >
          <button type="submit" disabled={busy}>
            Cancel this run
          </button>
        </form>
      )}
      {message !== '' && (
        <p class="bad" role="alert">
          {message}
        </p>
      )}
    </section>
  );
}

interface Live {
  readonly runId: string;
  readonly title: string;
  readonly status: string;
  readonly startedAt: string;
  readonly queued: boolean;
}

const shownMax = 20;
