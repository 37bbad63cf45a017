import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';

/** A view whose code is fetched when it is first gone to: `const Chat = later(() => import('./views/chat.js'))`. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const found = signal<{ readonly View: ComponentType<Props> } | undefined>(undefined);
  const failed = signal(false);
  const begin = (): void => {
    if (found.value !== undefined) return;
    failed.value = false;
    load().then(
      (View) => {
        found.value = { View };
      },
      () => {
        failed.value = true;
      },
    );
  };
  return function Later(props: Props) {
    useEffect(begin, []);
    if (found.value !== undefined) {
      const { View } = found.value;
      return <View {...props} />;
    }
    if (!failed.value)
      return (
        <p class="soft" aria-busy="true">
          Loading …
        </p>
      );
    return (
      <div class="view">
        <h1>This part of the page did not come</h1>
        <p class="notice bad">
          The gateway does not answer, or was replaced by a newer one: load the page again.{' '}
          <button type="button" onClick={begin}>
            Try again
          </button>
        </p>
      </div>
    );
  };
}
