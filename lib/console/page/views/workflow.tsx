import { useSignal } from '@preact/signals';
import { useAction } from '../../../page/action.js';
import { now, span } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { tone } from '../../../page/parts/state.js';
import type { WorkflowDefinition } from '../../../../machines/graph/definition.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { Decision } from '../parts/decision.js';
import { inspectorLink, linkTo } from '../place.js';
import { waiting } from '../waiting.js';
import { textOf } from '../workflows/document.js';
import { authoredOf } from '../workflows/authored.js';
import { readVersion } from '../workflows/patch-of.js';
import { StartRun } from '../workflows/start-run.js';
import { Versions } from '../workflows/versions.js';
import { WorkflowGraph } from '../workflows/workflow-graph.js';

/** One workflow: its graph, its runs, its versions; started, paused, approved and retired here. */
export function WorkflowPage({ id }: { readonly id: string }) {
  const loaded = useLoaded(`workflow/${id}`, (signal) => readVersion(id, undefined, signal), {
    touches: ({ frames }) =>
      frames.some(({ event, payload }) => event === 'company:changed' && payload['id'] === id),
  });
  return (
    <div class="view workflow">
      <p class="crumbs">
        <a href={linkTo({ view: 'workflows' })}>Workflows</a> / <code>{id}</code>
      </p>
      {loaded.value.value === undefined && <h1>{id}</h1>}
      <Answered loaded={loaded}>{(definition) => <Workflow definition={definition} />}</Answered>
    </div>
  );
}

function Workflow({ definition }: { readonly definition: WorkflowDefinition }) {
  const { id, title, status, version, description, owner } = definition;
  const chosen = useSignal<string | undefined>(undefined);
  const starting = useSignal(false);
  const node = definition.nodes.find((one) => one.id === chosen.value);
  return (
    <>
      <div class="heading">
        <h1>{title}</h1>
        <b class={`state ${status === 'active' ? 'done' : 'rest'}`} data-status={status}>
          {status}
        </b>
        <span class="soft">
          version {version}
          {owner !== null && ` of ${owner}`}
        </span>
        <p class="ways end">
          <button
            type="button"
            class="primary"
            disabled={status !== 'active'}
            aria-expanded={starting.value}
            onClick={() => {
              starting.value = !starting.value;
            }}
          >
            Start a run …
          </button>
          <a class="button" href={linkTo({ view: 'workflow-editor', id })}>
            Edit
          </a>
          <a class="quiet" href={inspectorLink('workflow', id)}>
            Inspect
          </a>
        </p>
      </div>
      {description !== null && <p class="said">{description}</p>}
      <Waits id={id} version={version} />
      {starting.value && (
        <StartRun
          id={id}
          input={definition.input}
          close={() => {
            starting.value = false;
          }}
        />
      )}
      <section class="panel" aria-labelledby="graph-title">
        <h2 id="graph-title">Graph</h2>
        <WorkflowGraph
          definition={definition}
          chosen={chosen.value}
          choose={(next) => {
            chosen.value = chosen.value === next ? undefined : next;
          }}
          hint="A click on a node shows what it does."
        />
        {node !== undefined && (
          <pre class="plain" tabIndex={0} role="group" aria-label={node.label}>
            {textOf(authoredOf({ ...definition, nodes: [node], edges: [] })['nodes'])}
          </pre>
        )}
      </section>
      <div class="columns">
        <Runs id={id} />
        <Versions key={version} id={id} newest={version} />
      </div>
      <Turn definition={definition} />
    </>
  );
}

/** A version that an agent wrote, and that a person must approve before it starts. */
function Waits({ id, version }: { readonly id: string; readonly version: number }) {
  const asked = waiting.value?.find(
    (thing) => thing.kind === 'workflow' && thing.id === id && thing.what === 'version',
  );
  const reasons = useLoaded(`reasons/${id}/${version}/${asked?.waitingId ?? ''}`, async () => {
    if (asked === undefined) return [];
    const { pending } = await must(client.get('/api/workflow-approvals'));
    return pending.find((one) => one['workflowId'] === id)?.reasons ?? [];
  });
  if (asked === undefined) return null;
  return (
    <section class="panel asks" aria-labelledby="asked-title">
      <h2 id="asked-title">
        Version {asked.waitingId} waits for your approval{' '}
        <span class="soft">what it does and what changed stands below</span>
      </h2>
      <ul>
        {reasons.value.value?.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      <Decision thing={asked} />
    </section>
  );
}

/** One that waits for an earlier run has not begun. */
const wordOf = ({ status, queued }: { readonly status: string; readonly queued?: unknown }): string =>
  queued === true ? 'queued' : status;

function Runs({ id }: { readonly id: string }) {
  const loaded = useLoaded(
    `runs/${id}`,
    (signal) =>
      must(
        client.get('/api/workflow-definitions/{id}/runs', {
          params: { path: { id }, query: { limit: '20' } },
          signal,
        }),
      ),
    { touches: named(/^run:/) },
  );
  return (
    <section class="panel" aria-labelledby="runs-title">
      <h2 id="runs-title">Runs</h2>
      <Answered loaded={loaded}>
        {({ runs }) =>
          runs.length === 0 ? (
            <p class="empty">None yet.</p>
          ) : (
            <ul class="rows">
              {runs.map((run) => (
                <li key={run.runId}>
                  <a
                    data-run={run.runId}
                    href={`/inspect#/runs/${encodeURIComponent(id)}/${encodeURIComponent(run.runId)}`}
                  >
                    <b class={`state ${tone(wordOf(run))}`}>{wordOf(run)}</b>
                    <span class="title clip">{run.runId}</span>
                    <span class="soft num end">{span(now.value - Date.parse(run.startedAt))} ago</span>
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </section>
  );
}

/** Pause, resume, retire. */
function Turn({ definition: { id, status, version } }: { readonly definition: WorkflowDefinition }) {
  const { message, busy, attempt } = useAction();
  const sure = useSignal(false);
  const turn = (verb: 'pause' | 'resume' | 'retire'): void =>
    void attempt(() =>
      must(
        client.post(`/api/workflow-definitions/{id}/${verb}`, {
          params: { path: { id } },
          body: { expectedVersion: version },
        }),
      ),
    );
  if (status === 'retired')
    return <p class="soft">It is retired: it can no longer be started or changed. Its runs continue.</p>;
  return (
    <p class="ways">
      <button type="button" disabled={busy} onClick={() => turn(status === 'active' ? 'pause' : 'resume')}>
        {status === 'active' ? 'Pause' : 'Resume'}
      </button>
      {sure.value ? (
        <button type="button" class="danger" disabled={busy} onClick={() => turn('retire')}>
          Retire it for good
        </button>
      ) : (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            sure.value = true;
          }}
        >
          Retire …
        </button>
      )}
      {message !== '' && (
        <span class="bad small" role="alert">
          {message}
        </span>
      )}
    </p>
  );
}
