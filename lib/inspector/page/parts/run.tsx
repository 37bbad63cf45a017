import { readOnly } from '../../../page/base.js';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { ask } from '../../../page/ask.js';
import { dateAndTime, withUtc } from '../../../page/clock.js';
import { useLoaded } from '../live.js';
import { attention, keyOfWaiting } from '../attention.js';
import { linkTo } from '../place.js';
import { Buttons } from './decide.js';
import { RunActions } from './run-actions.js';
import { RunAttempts } from './run-attempts.js';
import { RunGraph } from './run-graph.js';
import { pathOfRun, RunQueue } from './run-queue.js';
import { wordOf, type Run } from './run-record.js';
import { Panel } from '../../../page/parts/panel.js';
import { tone } from '../../../page/parts/state.js';
import { Tree } from '../../../page/parts/tree.js';
import type { Json } from '../../../../machines/outputs.js';

/**
 * One run: its graph with a receipt on every node, the gate at which it waits, and what each step was given
 * and gave.
 */
export function RunView({ workflow, id }: { readonly workflow: string; readonly id: string }) {
  const path = pathOfRun(workflow, id);
  const loaded = useLoaded(path, (signal) => ask<Run>(path, { signal }), {
    touches: ({ entries, skipped }) =>
      skipped > 0 || entries.some((entry) => entry.kind === 'workflow-run' && entry.id === id),
  });
  const chosen = useSignal<string | undefined>(undefined);
  const decided = useRef<string>(undefined);
  const { value: run, error } = loaded.value;
  if (run?.parked != null)
    // the panel goes with its gate: what it came to is said where the run's own buttons are
    decided.current = keyOfWaiting({ kind: 'workflow-run', id, waitingId: run.parked.gateKey });
  if (run === undefined)
    return (
      <section class="view">
        <p class="crumbs">
          <a href={linkTo({ view: 'runs' })}>Runs</a> / <code>{id}</code>
        </p>
        <h1>{error === undefined ? 'Loading …' : 'Not found'}</h1>
        {error !== undefined && <p class="soft">{error}</p>}
      </section>
    );
  // Where it is, or where it broke: what was left because of that says little, and is nothing to begin again from
  const at =
    run.parked?.nodeId ??
    run.steps.find(({ status }) => status === 'failed')?.nodeId ??
    run.steps.findLast(({ status }) => status !== 'pending' && status !== 'skipped')?.nodeId;
  const node = chosen.value ?? at;
  const receipt = run.steps.find(({ nodeId }) => nodeId === node);
  return (
    <section class="view run" aria-labelledby="run-title">
      <p class="crumbs">
        <a href={linkTo({ view: 'runs' })}>Runs</a> / {workflow} /{' '}
        <a href={linkTo({ view: 'actor', kind: 'workflow-run', id })}>
          <code>{id}</code>
        </a>
      </p>
      <div class="heading">
        <h1 id="run-title">{run.title}</h1>
        <b class={`state ${tone(wordOf(run))}`}>{wordOf(run)}</b>
        <p class="soft" title={withUtc(Date.parse(run.startedAt))}>
          since {dateAndTime(Date.parse(run.startedAt))}
        </p>
      </div>
      {run.errors.map(({ code, message }) => (
        <p key={code} class="notice bad" role="alert">
          <b>{code}</b> {message}
        </p>
      ))}
      <RunActions
        run={run}
        workflow={workflow}
        path={path}
        decided={decided.current}
        node={run.definitionSnapshot?.nodes.find((one) => one.id === node && one.type !== 'trigger')}
      />
      {run.queued && <RunQueue workflow={workflow} id={id} path={path} />}
      {run.parked !== null && (
        <Gate
          key={run.parked.gateKey}
          workflow={workflow}
          gate={run.parked}
          name={run.steps.find(({ nodeId }) => nodeId === run.parked?.nodeId)?.label ?? run.parked.nodeId}
          id={id}
        />
      )}
      <Panel name="graph" title="Graph">
        {run.definitionSnapshot === null ? (
          <p class="empty">Its definition is gone.</p>
        ) : (
          <RunGraph
            run={run}
            definition={run.definitionSnapshot}
            at={at}
            chosen={node}
            choose={(nodeId) => {
              chosen.value = nodeId;
            }}
          />
        )}
      </Panel>
      <RunAttempts
        id={id}
        path={path}
        from={Date.parse(run.startedAt)}
        until={run.endedAt === null ? null : Date.parse(run.endedAt)}
        choose={(nodeId) => {
          chosen.value = nodeId;
        }}
      />
      {receipt !== undefined && (
        <Panel
          name="receipt"
          title={receipt.label}
          about={`attempt ${receipt.attempt}${receipt.round === undefined ? '' : `, round ${receipt.round}`}`}
          end={<b class={`state ${tone(receipt.status)}`}>{receipt.status}</b>}
        >
          <Tree value={receipt as unknown as Json /* it came as JSON */} label="Receipt" depth={2} />
        </Panel>
      )}
    </section>
  );
}

/** Where the run waits for a person. Whether it may be this one, its own policy has already said. */
function Gate({
  workflow,
  gate,
  name,
  id,
}: {
  readonly workflow: string;
  readonly gate: NonNullable<Run['parked']>;
  /** Of its node, as people wrote it. */
  readonly name: string;
  readonly id: string;
}) {
  const note = useSignal('');
  const { canDecide, target } = gate.approval;
  const waiting = attention.value?.waiting.find(
    (one) => one.kind === 'workflow-run' && one.id === id && one.waitingId === gate.gateKey,
  );
  const thing = { kind: 'workflow-run', what: 'gate', id, waitingId: gate.gateKey, within: workflow };
  return (
    <Panel
      name="gate"
      title={`It waits at ${name}`}
      about={<span title={withUtc(Date.parse(gate.at))}>since {dateAndTime(Date.parse(gate.at))}</span>}
      class="gate-panel"
    >
      {gate.description !== '' && <p class="request">{gate.description}</p>}
      {canDecide && readOnly === undefined ? (
        <form onSubmit={(event) => event.preventDefault()}>
          <label>
            Note{' '}
            <input
              value={note.value}
              maxLength={4_000}
              onInput={(event) => {
                note.value = event.currentTarget.value;
              }}
              autocomplete="off"
            />
          </label>
          <Buttons
            waiting={{ ...thing, title: name, held: waiting?.held }}
            choices={['approve', 'reject']}
            note={note.value}
          />
        </form>
      ) : (
        <p class="soft">
          {readOnly !== undefined
            ? 'It is decided where the gateway runs.'
            : gate.kind === 'approval'
              ? `${target ?? 'Another approver'} decides this.`
              : `It continues when the ${gate.kind} arrives.`}
        </p>
      )}
    </Panel>
  );
}
