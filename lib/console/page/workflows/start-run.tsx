import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ValueShape } from '../../../../machines/graph/value-shape.js';
import { useAction } from '../../../page/action.js';
import { ask } from '../../../page/ask.js';
import { client, must } from '../../../page/gateway.js';
import { readValue } from './document.js';

/** Start a run: a field for each member of its input. Sent twice it starts once. */
export function StartRun({
  id,
  input,
  close,
}: {
  readonly id: string;
  readonly input: ValueShape | null;
  readonly close: () => void;
}) {
  const { message, busy, attempt } = useAction();
  const key = useRef(crypto.randomUUID());
  const started = useSignal<string | undefined>(undefined);
  const path = `/api/workflow-definitions/${encodeURIComponent(id)}/run`;
  const members = Object.entries(input?.properties ?? {});
  const given = (form: HTMLFormElement): object => {
    const data = new FormData(form);
    if (input === null) return {};
    if (members.length === 0) return { input: valueOf(String(data.get('input') ?? '')) };
    const values = members.flatMap(([name, shape]) => {
      const text = String(data.get(name) ?? '');
      return text === '' ? [] : [[name, shape.type === 'string' ? text : valueOf(text)] as const];
    });
    return { input: Object.fromEntries(values) };
  };
  if (started.value !== undefined)
    return (
      <p class="notice good" role="status" data-started>
        Started:{' '}
        <a href={`/inspect#/runs/${encodeURIComponent(id)}/${encodeURIComponent(started.value)}`}>
          {started.value}
        </a>
      </p>
    );
  return (
    <section class="panel" aria-labelledby="start-title">
      <h2 id="start-title">Start a run</h2>
      <form
        class="node-form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = event.currentTarget;
          void attempt(async () => {
            const { runId } = await must(
              client.post('/api/workflow-definitions/{id}/run', {
                params: { path: { id } },
                body: given(form),
                idempotencyKey: key.current,
              }),
            );
            started.value = runId;
          });
        }}
      >
        {input === null ? (
          <p class="soft">It takes no input.</p>
        ) : members.length === 0 ? (
          <label>
            <span>Input</span>
            <textarea name="input" class="mono" rows={4} placeholder="topic: ferns" />
          </label>
        ) : (
          members.map(([name, shape]) => (
            <Member
              key={name}
              name={name}
              shape={shape}
              isRequired={input.required?.includes(name) === true}
            />
          ))
        )}
        <p class="ways">
          <button type="submit" class="primary" disabled={busy}>
            Start
          </button>
          <button
            type="button"
            disabled={busy}
            onClick={(event) => {
              const { form } = event.currentTarget;
              if (form === null) return;
              void attempt(async () => {
                const { allowed, refusal } = await ask<Rehearsed>(`${path}?dryRun=true`, {
                  post: given(form),
                });
                return allowed
                  ? 'It would start. Nothing was started.'
                  : `It would be refused: ${refusal?.message ?? refusal?.error ?? 'no reason was given'}`;
              });
            }}
          >
            Try it
          </button>
          <button type="button" class="quiet" onClick={close}>
            Close
          </button>
          <span class="small" role="status" data-outcome>
            {message}
          </span>
        </p>
      </form>
    </section>
  );
}

interface Rehearsed {
  readonly allowed: boolean;
  readonly refusal?: { readonly message?: string; readonly error?: string };
}

function Member({
  name,
  shape,
  isRequired,
}: {
  readonly name: string;
  readonly shape: ValueShape;
  readonly isRequired: boolean;
}) {
  const choices = shape.enum ?? (shape.type === 'boolean' ? [true, false] : undefined);
  const isLong = shape.type === 'object' || shape.type === 'array' || shape.type === undefined;
  const standard = shape.default === undefined ? '' : String(shape.default);
  return (
    <label data-field={name}>
      <span>
        {shape.title ?? name}
        {!isRequired && <span class="soft"> (may be left out)</span>}
      </span>
      {choices !== undefined ? (
        <select name={name} required={isRequired}>
          <option value="">{isRequired ? 'choose' : 'none'}</option>
          {choices.map((one) => (
            <option key={String(one)} value={typeof one === 'string' ? one : JSON.stringify(one)}>
              {String(one)}
            </option>
          ))}
        </select>
      ) : isLong ? (
        <textarea name={name} class="mono" rows={3} required={isRequired} />
      ) : (
        <input name={name} type="text" required={isRequired} placeholder={standard} autocomplete="off" />
      )}
      {shape.description !== undefined && <small class="soft">{shape.description}</small>}
    </label>
  );
}

/** What is no text is written as YAML: `3`, `true`, `[a, b]`. */
function valueOf(text: string): unknown {
  const { value, problems } = readValue(text);
  if (value === undefined) throw new Error(`This cannot be read as a value: ${problems[0]?.message ?? text}`);
  return value['value'];
}
