import { useSignal } from '@preact/signals';
import { go } from '../place.js';

/** Begins a text of that name: it is there when it was saved. */
export function NewText({
  label,
  button,
  pathOf,
}: {
  readonly label: string;
  readonly button: string;
  readonly pathOf: (name: string) => string;
}) {
  const name = useSignal('');
  return (
    <form
      class="ways"
      onSubmit={(event) => {
        event.preventDefault();
        go({ view: 'text', path: pathOf(name.value) });
      }}
    >
      <input
        type="text"
        aria-label={label}
        placeholder="name"
        value={name.value}
        maxLength={60}
        autocomplete="off"
        onInput={(event) => {
          name.value = event.currentTarget.value;
        }}
      />
      <button type="submit" disabled={!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name.value)}>
        {button}
      </button>
    </form>
  );
}
