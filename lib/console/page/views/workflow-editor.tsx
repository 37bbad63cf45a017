import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useAction } from '../../../page/action.js';
import { ask, said } from '../../../page/ask.js';
import { timeOfDay } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import type { GraphFault } from '../../../../machines/graph/reader.js';
import { Patch } from '../parts/patch.js';
import { go, linkTo } from '../place.js';
import { authoredOf } from '../workflows/authored.js';
import { placeOf, readText, textOf } from '../workflows/document.js';
import { dropDraft, keepDraft, readDraft } from '../../../page/draft.js';
import { useKnown } from '../workflows/known.js';
import { AddAfter, HeadForm, NodeForm, rawsIn } from '../workflows/node-form.js';
import { patchOf, readVersion } from '../workflows/patch-of.js';
import { readPlan, usePlan, type Plan } from '../workflows/plan.js';
import { Faults, Waves } from '../workflows/verdict.js';
import { WorkflowGraph } from '../workflows/workflow-graph.js';

/** Write a workflow: its graph, forms and YAML side by side, with what the gateway says of it while one types. */
export function WorkflowEditor({ id }: { readonly id: string | undefined }) {
  const start = useSignal<Start | undefined>(undefined);
  const error = useSignal<string | undefined>(undefined);
  useEffect(() => {
    void startOf(id).then(
      (found) => {
        start.value = found;
      },
      (failed: unknown) => {
        error.value = said(failed);
      },
    );
  }, []);
  return (
    <div class="view editor">
      <p class="crumbs">
        <a href={linkTo({ view: 'workflows' })}>Workflows</a>
        {id !== undefined && (
          <>
            {' '}
            / <a href={linkTo({ view: 'workflow', id })}>{id}</a>
          </>
        )}
      </p>
      {start.value === undefined ? (
        <>
          <h1>{id === undefined ? 'New workflow' : id}</h1>
          <p class={error.value === undefined ? 'soft' : 'notice bad'}>{error.value ?? 'Loading …'}</p>
        </>
      ) : (
        <Editor id={id} {...start.value} />
      )}
    </div>
  );
}

interface Start {
  /** As it is stored. */
  readonly stored: string;
  readonly version: number;
  readonly text: string;
  /** It is what was being written on this device. */
  readonly isDraft: boolean;
  /** Of the stored version that the draft began with, where that is not the newest any more. */
  readonly outdated: number | undefined;
}

async function startOf(id: string | undefined): Promise<Start> {
  const draft = readDraft(slotOf(id));
  if (id === undefined)
    return {
      stored: '',
      version: 0,
      text: draft?.text ?? template,
      isDraft: draft !== undefined,
      outdated: undefined,
    };
  const definition = await readVersion(id);
  const stored = textOf(authoredOf(definition));
  const { version } = definition;
  const isDraft = draft?.at !== undefined;
  const hasComments = draft !== undefined && draft.at === undefined && draft.version === version;
  return {
    stored,
    version: isDraft ? draft.version : version,
    text: isDraft || hasComments ? draft.text : stored,
    isDraft,
    outdated: isDraft && draft.version !== version ? version : undefined,
  };
}

function Editor({
  id,
  stored,
  version,
  text: first,
  isDraft,
  outdated,
}: Start & { readonly id: string | undefined }) {
  const text = useSignal(first);
  const before = useSignal<readonly string[]>([]);
  const chosen = useSignal<string | undefined>(undefined);
  const kept = useSignal<number | undefined>(isDraft ? Date.now() : undefined);
  const area = useRef<HTMLTextAreaElement>(null);
  const { message, busy, attempt } = useAction();
  const known = useKnown();
  const read = readText(text.value);
  const value: Raw | undefined =
    read.value === undefined ? undefined : { ...read.value, ...(id !== undefined && { id }) };
  const planned = usePlan(value);
  const { plan, isOld, error } = planned.value;

  /** `undoable`: by a form or a button; the text field has an undo of its own for what is typed. */
  const write = (next: string, undoable = true): void => {
    if (next === text.value) return;
    if (undoable) before.value = [...before.value.slice(-99), text.value];
    text.value = next;
    const at = Date.now();
    kept.value = keepDraft(slotOf(id), { text: next, version, at }) ? at : undefined;
  };
  const show = (fault: GraphFault): void => {
    const nodes = plan?.definition.nodes ?? [];
    const from = plan?.definition.edges.find((edge) => edge.id === fault.ref)?.from;
    const node = nodes.find((one) => one.id === fault.ref)?.id ?? from;
    if (node !== undefined) chosen.value = node;
    const place = placeOf(text.value, fault);
    const field = area.current;
    if (place === undefined || field === null) return;
    field.focus();
    field.setSelectionRange(place.from, place.to);
    field.scrollTop = (place.line - 4) * Number.parseFloat(getComputedStyle(field).lineHeight);
  };
  /** What is written now, as the gateway reads it: what is on the screen may be a moment old. */
  const judged = async (): Promise<Plan> => {
    if (value === undefined) throw new Error('The YAML cannot be read yet.');
    const now = await readPlan(value);
    if (!now.ok) throw new Error(`Not yet: ${now.faults[0]?.message ?? 'it has faults'}.`);
    return now;
  };
  const save = (status?: 'paused'): void =>
    void attempt(async () => {
      const { definition } = await judged();
      const body = { definition: { ...definition, ...(status && { status }) } };
      const saved =
        id === undefined
          ? await must(client.post('/api/workflow-definitions', { body }))
          : await must(
              client.put('/api/workflow-definitions/{id}', {
                params: { path: { id } },
                body: { ...body, expectedVersion: version },
              }),
            );
      if (id === undefined) dropDraft(slotOf(undefined));
      keepDraft(slotOf(saved.id), { text: text.value, version: saved.version, at: undefined });
      go({ view: 'workflow', id: saved.id });
    });
  const rehearse = (): void =>
    void attempt(async () => {
      const { definition } = await judged();
      const change =
        id === undefined
          ? { operation: 'create', definition }
          : { operation: 'update', workflowId: id, patch: changeable(definition), expectedVersion: version };
      const { allowed, refusal } = await ask<Rehearsed>('/api/workflow-definitions/mutate?dryRun=true', {
        post: change,
      });
      return allowed
        ? `It can be saved as version ${version + 1}. Nothing was saved.`
        : `It would be refused: ${refusal?.message ?? refusal?.error ?? 'no reason was given'}`;
    });

  const faults = plan?.faults ?? [];
  const patch =
    id === undefined || plan === undefined ? '' : patchOf(stored, textOf(authoredOf(plan.definition)));
  return (
    <>
      <div class="heading">
        <h1>{typeof value?.['title'] === 'string' ? value['title'] : (id ?? 'New workflow')}</h1>
        <p class="ways">
          <button type="button" disabled={busy} onClick={rehearse}>
            Try saving
          </button>
          {id === undefined && (
            <button type="button" disabled={busy} onClick={() => save('paused')}>
              Save paused
            </button>
          )}
          <button type="button" class="primary" disabled={busy} onClick={() => save()}>
            Save as version {version + 1}
          </button>
        </p>
      </div>
      <p class="small soft" role="status" data-outcome>
        {message !== ''
          ? message
          : kept.value !== undefined
            ? `Draft kept on this device, ${timeOfDay(kept.value)}.`
            : ''}
      </p>
      {outdated !== undefined && (
        <p class="notice">
          This draft began with version {version}; version {outdated} was saved meanwhile. Saving it is
          refused until you begin again with the newest.
        </p>
      )}
      <p class="ways">
        <AddAfter
          text={text.value}
          id={chosen.value}
          taken={rawsIn(value?.['nodes']).map((node) => String(node['id']))}
          done={(next, added) => {
            write(next);
            chosen.value = added;
          }}
        />
        <button
          type="button"
          class="quiet"
          disabled={before.value.length === 0}
          onClick={() => {
            const last = before.value.at(-1);
            before.value = before.value.slice(0, -1);
            if (last !== undefined) write(last, false);
          }}
        >
          Undo
        </button>
        {kept.value !== undefined && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              dropDraft(slotOf(id));
              location.reload();
            }}
          >
            Discard the draft
          </button>
        )}
      </p>
      <section class="panel" aria-labelledby="graph-title">
        <h2 id="graph-title">
          Graph {isOld && plan !== undefined && <span class="soft">checking …</span>}
          {!isOld && faults.length === 0 && <b class="state done">sound</b>}
        </h2>
        {error !== undefined && <p class="notice bad">{error}</p>}
        {plan === undefined ? (
          <p class="soft">Loading …</p>
        ) : (
          <WorkflowGraph
            definition={plan.definition}
            faults={plan.faults}
            warnings={plan.warnings}
            chosen={chosen.value}
            choose={(node) => {
              chosen.value = chosen.value === node ? undefined : node;
            }}
            hint="A click on a node opens its form."
          />
        )}
        <Faults problems={read.problems} faults={faults} warnings={plan?.warnings ?? []} show={show} />
      </section>
      <div class="side-by-side">
        <section class="panel" aria-labelledby="form-title">
          <h2 id="form-title">{chosen.value ?? 'The workflow'}</h2>
          {value === undefined ? (
            <p class="soft">The forms are back when the YAML can be read.</p>
          ) : chosen.value === undefined ? (
            <HeadForm text={text.value} value={value} known={known.value} write={write} />
          ) : (
            <NodeForm
              id={chosen.value}
              text={text.value}
              value={value}
              known={known.value}
              write={write}
              choose={(next) => {
                chosen.value = next;
              }}
            />
          )}
        </section>
        <section class="panel" aria-labelledby="yaml-title">
          <h2 id="yaml-title">YAML</h2>
          <textarea
            ref={area}
            class="yaml"
            aria-labelledby="yaml-title"
            spellcheck={false}
            wrap="off"
            value={text.value}
            onInput={(event) => write(event.currentTarget.value, false)}
          />
        </section>
      </div>
      {plan?.execution.plan !== undefined && !isOld && <Waves plan={plan} />}
      {patch !== '' && (
        <section class="panel changes" aria-labelledby="patch-title">
          <h2 id="patch-title">Against what is stored</h2>
          <pre tabIndex={0} role="group" aria-label="Changes against what is stored">
            <Patch text={patch} />
          </pre>
        </section>
      )}
    </>
  );
}

type Raw = Readonly<Record<string, unknown>>;

interface Rehearsed {
  readonly allowed: boolean;
  readonly refusal?: { readonly message?: string; readonly error?: string };
}

/** A patch may not hold the stamps of a version. */
const changeable = ({
  id: _id,
  version: _version,
  schemaVersion: _schema,
  createdBy: _by,
  createdAt: _made,
  updatedAt: _changed,
  ...rest
}: Plan['definition']): object => rest;

const template = `# A workflow: what is to be done, in which order, and where a person decides.
title: New workflow
nodes:
  - id: start
    type: trigger
    trigger: {kind: manual}
  - id: work
    type: step
    actor: {kind: engine, ref: clerk} # or {kind: employee, ref: NAME}
    instructions: List what is to be done.
  - id: ask
    type: gate
    gate: {kind: approval, description: May it go on?}
edges:
  - {id: start-work, from: start, to: work}
  - {id: work-ask, from: work, to: ask}
`;

const slotOf = (id: string | undefined): string => `workflow.${id ?? ''}`;
