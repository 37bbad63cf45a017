import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { readValue, textOf, type Path } from './document.js';
import type { Field, Names } from './fields.js';

/** Names that may be meant, by what they name. */
export type Known = Readonly<Record<Names, readonly string[]>>;

/** One field of a form over the text: what is typed is in the text at once. */
export function FieldInput({
  of,
  field,
  value,
  known,
  change,
}: {
  /** Id of the node or edge, which makes ids of elements its own. */
  readonly of: string;
  readonly field: Field;
  readonly value: unknown;
  readonly known: Known;
  /** Undefined: it is left out. */
  readonly change: (path: Path, value: unknown) => void;
}) {
  const { path, label, as, choices = [], names, hint } = field;
  const set = (next: unknown): void => change(path, next === '' ? undefined : next);
  const list = names === undefined ? undefined : `names-${of}-${path.join('-')}`;
  const text = value === undefined || value === null ? '' : String(value);
  if (as === 'check')
    return (
      <label class="check">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => set(event.currentTarget.checked ? true : undefined)}
        />
        {label}
      </label>
    );
  return (
    <label data-field={path.join('.')}>
      <span>{label}</span>
      {as === 'choice' ? (
        <select value={text} onChange={(event) => set(event.currentTarget.value)}>
          {!choices.includes(text) && <option value={text}>{text === '' ? 'default' : text}</option>}
          {choices.map((one) => (
            <option key={one} value={one}>
              {one === '' ? 'when it succeeds' : one}
            </option>
          ))}
        </select>
      ) : as === 'text' ? (
        <textarea rows={3} value={text} onInput={(event) => set(event.currentTarget.value)} />
      ) : as === 'yaml' ? (
        <AnyValue value={value} set={set} />
      ) : (
        <input
          type="text"
          inputMode={as === 'number' ? 'decimal' : 'text'}
          value={text}
          list={list}
          autocomplete="off"
          onInput={(event) => {
            const typed = event.currentTarget.value;
            set(as === 'number' && /^\d+(?:\.\d+)?$/.test(typed) ? Number(typed) : typed);
          }}
        />
      )}
      {list !== undefined && names !== undefined && (
        <datalist id={list}>
          {known[names].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
      {hint !== undefined && <small class="soft">{hint}</small>}
    </label>
  );
}

/** A value of any shape as YAML; it is taken when it can be read, and said why where it cannot. */
function AnyValue({ value, set }: { readonly value: unknown; readonly set: (value: unknown) => void }) {
  const shown = value === undefined ? '' : textOf(value);
  const text = useSignal(shown);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    // What stands elsewhere has changed; what is typed here says the same in its own way
    if (shown !== normal(text.value)) text.value = shown;
  }, [shown]);
  return (
    <>
      <textarea
        class="mono"
        rows={Math.min(8, Math.max(2, text.value.split('\n').length))}
        spellcheck={false}
        value={text.value}
        aria-invalid={problem.value !== undefined}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          const read = readValue(text.value);
          problem.value = read.problems[0]?.message;
          if (text.value.trim() === '') set(undefined);
          else if (read.value !== undefined) set(read.value['value']);
        }}
      />
      {problem.value !== undefined && (
        <small class="bad" role="alert">
          {problem.value}
        </small>
      )}
    </>
  );
}

function normal(text: string): string {
  const { value } = readValue(text);
  return value === undefined || value['value'] == null ? '' : textOf(value['value']);
}
