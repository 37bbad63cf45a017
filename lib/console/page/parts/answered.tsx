import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Loaded } from '../../../page/loaded.js';

/** Why what was pressed did not come about; nothing where it did. */
export const Fault = ({ message }: { readonly message: string }) =>
  message === '' ? null : (
    <p class="bad small" role="alert">
      {message}
    </p>
  );

/** What was read, once it is there; before that a word, and what went wrong where something did. */
export function Answered<Value>({
  loaded,
  children,
}: {
  readonly loaded: ReadonlySignal<Loaded<Value>>;
  readonly children: (value: Value) => ComponentChildren;
}) {
  const { value, error } = loaded.value;
  return (
    <>
      {error !== undefined && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      {value !== undefined ? (
        children(value)
      ) : (
        <p class="soft" aria-busy={error === undefined}>
          {error === undefined && 'Loading …'}
        </p>
      )}
    </>
  );
}
