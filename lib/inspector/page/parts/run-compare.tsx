import { ask } from '../../../page/ask.js';
import { duration } from '../../../page/clock.js';
import { tone } from '../../../page/parts/state.js';
import { Leaf, Tree } from '../../../page/parts/tree.js';
import { useLoaded } from '../live.js';
import { go, linkTo } from '../place.js';
import { compareRuns, type ComparedNode, type Difference, type Side } from '../run-comparison.js';
import { wordOf, type Run } from './run-record.js';
import type { Json } from '../../../../machines/outputs.js';

/** Another run of the same workflow to hold this one against. */
export function CompareWith({ workflow, id }: { readonly workflow: string; readonly id: string }) {
  const loaded = useLoaded(`others ${workflow}`, (signal) =>
    ask<{ readonly runs: readonly Pick<Run, 'runId' | 'status' | 'queued'>[] }>(
      `/api/workflow-definitions/${encodeURIComponent(workflow)}/runs?limit=50`,
      { signal },
    ),
  );
  const others = loaded.value.value?.runs.filter(({ runId }) => runId !== id) ?? [];
  if (others.length === 0) return null;
  return (
    <label class="compare-with">
      Compare with{' '}
      <select
        value=""
        onChange={({ currentTarget: { value } }) => {
          if (value !== '') go({ view: 'runs', workflow, id, other: value });
        }}
      >
        <option value="">another run</option>
        {others.map((run) => (
          <option key={run.runId} value={run.runId}>
            {run.runId} ({wordOf(run)})
          </option>
        ))}
      </select>
    </label>
  );
}

/** Two runs of a workflow side by side: what each step did, how long, how often, and in what they differ. */
export function RunComparison({
  workflow,
  id,
  other,
}: {
  readonly workflow: string;
  readonly id: string;
  readonly other: string;
}) {
  const pathOf = (run: string): string =>
    `/api/workflow-definitions/${encodeURIComponent(workflow)}/runs/${encodeURIComponent(run)}`;
  const loaded = useLoaded(
    `compare ${workflow} ${id} ${other}`,
    async (signal) =>
      Promise.all([ask<Run>(pathOf(id), { signal }), ask<Run>(pathOf(other), { signal })] as const),
    {
      touches: ({ entries, skipped }) =>
        skipped > 0 || entries.some((entry) => entry.id === id || entry.id === other),
    },
  );
  const { value, error } = loaded.value;
  const nodes = value === undefined ? [] : compareRuns(...value);
  const differing = nodes.filter(({ differs }) => differs).length;
  return (
    <section class="view run" aria-labelledby="compare-title">
      <p class="crumbs">
        <a href={linkTo({ view: 'runs' })}>Runs</a> / {workflow} /{' '}
        <a href={linkTo({ view: 'runs', workflow, id })}>
          <code>{id}</code>
        </a>
      </p>
      <div class="heading">
        <h1 id="compare-title">Two runs compared</h1>
        {value !== undefined && (
          <p class="soft">
            {differing === 0 ? 'Every step did the same.' : `${differing} of ${nodes.length} steps differ.`}
          </p>
        )}
      </div>
      {error !== undefined && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      {value === undefined ? (
        error === undefined && <p aria-busy="true">Loading …</p>
      ) : (
        <div class="panel compared-box" tabIndex={0} role="region" aria-label="Steps, can be scrolled">
          <table class="compared">
            <thead>
              <tr>
                <th scope="col">Step</th>
                {value.map((run) => (
                  <th scope="col" key={run.runId}>
                    <a href={linkTo({ view: 'runs', workflow, id: run.runId })}>{run.runId}</a>{' '}
                    <b class={`state ${tone(wordOf(run))}`}>{wordOf(run)}</b>
                  </th>
                ))}
                <th scope="col">Differs in</th>
              </tr>
            </thead>
            <tbody>
              {nodes.map((node) => (
                <Row key={node.nodeId} node={node} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Row({ node }: { readonly node: ComparedNode }) {
  const { nodeId, label, left, right, given, outcome, differs } = node;
  return (
    <tr data-node={nodeId} data-differs={differs}>
      <th scope="row">{label}</th>
      <td>
        <Did side={left} />
      </td>
      <td>
        <Did side={right} />
      </td>
      <td class="differs-in">
        {given.length + outcome.length === 0 ? (
          <span class="soft">{differs ? 'how it went' : 'nothing'}</span>
        ) : (
          <details>
            <summary>
              {[given.length > 0 && 'input', outcome.length > 0 && 'output'].filter(Boolean).join(' and ')}
            </summary>
            <Differences title="Input" list={given} />
            <Differences title="Output" list={outcome} />
          </details>
        )}
      </td>
    </tr>
  );
}

function Did({ side }: { readonly side: Side | undefined }) {
  if (side === undefined) return <span class="soft">no such step</span>;
  const { status, attempt, round, durationMs } = side;
  return (
    <>
      <b class={`state ${tone(status)}`}>{status}</b>{' '}
      <span class="soft num">
        {durationMs !== null && duration(durationMs)}
        {attempt > 1 && `, attempt ${attempt}`}
        {round > 1 && `, round ${round}`}
      </span>
    </>
  );
}

function Differences({ title, list }: { readonly title: string; readonly list: readonly Difference[] }) {
  if (list.length === 0) return null;
  return (
    <>
      <p class="soft small">{title}</p>
      <ul class="diff" aria-label={`${title}, what differs`}>
        {list.map(({ path, left, right }) => (
          <li key={path} class="set">
            <span class="name">{path}</span>
            <Value value={left} /> <span class="soft">against</span> <Value value={right} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Value({ value }: { readonly value: Json | undefined }) {
  if (value === undefined) return <span class="soft">nothing</span>;
  return typeof value === 'object' && value !== null ? (
    <Tree value={value} label="Value" depth={0} />
  ) : (
    <Leaf value={value} />
  );
}
