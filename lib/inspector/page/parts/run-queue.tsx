import { report } from '../../../page/action.js';
import { readOnly } from '../../../page/base.js';
import { ask } from '../../../page/ask.js';
import { Panel } from '../../../page/parts/panel.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { HeldButton } from './held-button.js';
import { OutcomeLine } from './outcome-line.js';
import type { ActorDetail } from '../../answers.js';

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
    <Panel
      name="queue"
      title="Queued"
      about={before < 0 ? undefined : `number ${before + 1} of ${queue.length}`}
      class="gate-panel"
    >
      <p>
        Its workflow allows no more runs at the same time. It starts when{' '}
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
      <p class="decide">
        <CancelRun id={id} path={path} />
        <OutcomeLine of={keyOfRun(id)} />
      </p>
    </Panel>
  );
}

/** A run ends for good, after the seconds in which that can be undone. */
export function CancelRun({ id, path }: { readonly id: string; readonly path: string }) {
  if (readOnly !== undefined) return null;
  const of = keyOfRun(id);
  return (
    <HeldButton
      of={of}
      word="Cancel this run"
      action={async () => {
        await ask(`${path}/cancel`, { post: {}, keepalive: true });
        report(of, 'Cancelled: the run has ended. It can be run again from a step.');
      }}
    />
  );
}

export const pathOfRun = (workflow: string, id: string): string =>
  `/api/workflow-definitions/${encodeURIComponent(workflow)}/runs/${encodeURIComponent(id)}`;

/** Under it is reported what buttons on a run came to. */
export const keyOfRun = (id: string): string => `workflow-run/${id}`;

/** Of an actor that is a run of a workflow: the way to its steps and gates, and for what it waits while it is queued. */
export function OwnRun({ detail: { kind, id, value, view } }: { readonly detail: ActorDetail }) {
  const { workflowId } = (view ?? {}) as { readonly workflowId?: unknown };
  if (kind !== 'workflow-run' || typeof workflowId !== 'string') return null;
  const path = pathOfRun(workflowId, id);
  return (
    <>
      <p>
        <a href={linkTo({ view: 'runs', workflow: workflowId, id })}>Its steps, attempts and gates</a>
      </p>
      {value === 'queued' && <RunQueue workflow={workflowId} id={id} path={path} />}
    </>
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
