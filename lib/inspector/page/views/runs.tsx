import { ask, Refused } from '../../../page/ask.js';
import { now, span, withUtc } from '../../../page/clock.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { RunComparison } from '../parts/run-compare.js';
import { RunView } from '../parts/run.js';
import { LongList } from '../../../page/parts/long-list.js';
import { tone } from '../../../page/parts/state.js';
import { wordOf } from '../parts/run-record.js';

/** A run in the list of `GET /api/workflow-runs`. */
interface Listed {
  readonly runId: string;
  readonly workflowId: string;
  readonly title: string;
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly stepCount: number;
  readonly inFlight: number;
  readonly queued: boolean;
  readonly parked: { readonly nodeId: string } | null;
}

/**
 * Runs of workflows: all of them, one with its graph, its receipts and the gate at which it waits, or one held
 * against another.
 */
export function RunsPage({
  workflow,
  id,
  other,
}: {
  readonly workflow: string | undefined;
  readonly id: string | undefined;
  readonly other: string | undefined;
}) {
  if (workflow !== undefined && id !== undefined && other !== undefined)
    return <RunComparison workflow={workflow} id={id} other={other} />;
  if (workflow !== undefined && id !== undefined)
    return <RunView key={`${workflow}/${id}`} workflow={workflow} id={id} />;
  return <Runs />;
}

function Runs() {
  const loaded = useLoaded(
    'runs',
    async (signal): Promise<{ readonly runs: readonly Listed[]; readonly evidenceReason?: string }> => {
      try {
        return await ask('/api/workflow-runs?limit=100', { signal });
      } catch (error) {
        if (error instanceof Refused && error.status === 404) return { runs: [] };
        throw error;
      }
    },
    {
      touches: ({ entries, skipped }) => skipped > 0 || entries.some(({ kind }) => kind === 'workflow-run'),
      everyMs: 10_000,
    },
  );
  const { value, error } = loaded.value;
  return (
    <section class="view" aria-labelledby="runs-title">
      <div class="heading">
        <h1 id="runs-title">Runs</h1>
        <p class="soft">of workflows, newest first</p>
      </div>
      {error !== undefined && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      {value?.evidenceReason !== undefined && <p class="notice">{value.evidenceReason}</p>}
      {value === undefined ? (
        error === undefined && (
          <p class="soft" aria-busy="true">
            Loading …
          </p>
        )
      ) : value.runs.length === 0 ? (
        <div class="panel">
          <p class="empty">
            No workflow has run yet. Write a definition and start a run of it; its graph appears here, with
            what each step did.
          </p>
        </div>
      ) : (
        <LongList
          class="panel runs"
          items={value.runs}
          keyOf={({ runId }) => runId}
          heightPx={56}
          row={(run, at) => (
            <li key={run.runId} {...at}>
              <a href={linkTo({ view: 'runs', workflow: run.workflowId, id: run.runId })}>
                <span class="who">
                  <b>{run.title}</b>
                  <small>{run.runId}</small>
                </span>
                <b class={`state ${tone(wordOf(run))}`}>{wordOf(run)}</b>
                <span class="soft">
                  {run.queued
                    ? 'waits for an earlier run of its workflow'
                    : run.parked === null
                      ? progressOf(run)
                      : `waits at ${run.parked.nodeId}`}
                </span>
                <span class="soft num end" title={withUtc(Date.parse(run.startedAt))}>
                  {span(now.value - Date.parse(run.startedAt))} ago
                </span>
              </a>
            </li>
          )}
        />
      )}
    </section>
  );
}

const progressOf = ({
  stepCount,
  inFlight,
}: {
  readonly stepCount: number;
  readonly inFlight: number;
}): string =>
  `${stepCount} ${stepCount === 1 ? 'step' : 'steps'}${inFlight > 0 ? `, ${inFlight} under way` : ''}`;
