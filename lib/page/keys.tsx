import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * The keyboard: `g` and a letter goes to a view, `?` lists the keys. Never while one types.
 * `list`: what the keys do, in the order in which it is shown.
 */
export function Keys({
  go,
  list,
}: {
  readonly go: Readonly<Record<string, () => void>>;
  readonly list: readonly (readonly [key: string, does: string])[];
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useKeys((key, mine) => {
    const to = chord.isOpen ? go[key] : undefined;
    chord.isOpen = key === 'g' && !chord.isOpen;
    chord.owner = mine;
    if (to !== undefined) to();
    else if (key === '?') dialog.current?.showModal();
    else return false;
    return true;
  });
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>
        {list.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button class="primary">Close</button>
      </form>
    </dialog>
  );
}

/** Do something at a key, by name or by what a function says of it. Never while someone types, nor behind a dialog. */
export function useKeys(
  actions: Readonly<Record<string, () => void>> | ((key: string, mine: object) => boolean),
): void {
  const latest = useRef(actions);
  latest.current = actions;
  // With the first drawing, not after it: a key that is pressed as soon as something is there to act on counts
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      // A key that is held down walks; it decides once
      if (event.repeat && !walking.has(event.key)) return;
      if (document.querySelector('dialog[open]')) return;
      // The second key of `g n` belongs to that alone, no matter who hears it first
      if (event.defaultPrevented || (chord.isOpen && chord.owner !== latest)) return;
      const { current } = latest;
      if (typeof current === 'function') {
        if (current(event.key, latest)) event.preventDefault();
      } else if (Object.hasOwn(current, event.key)) {
        event.preventDefault();
        current[event.key]?.();
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

const walking: ReadonlySet<string> = new Set(['j', 'k', 'ArrowDown', 'ArrowUp', '[', ']']);

/** `g` was pressed, and the next key says where to. */
const chord: { isOpen: boolean; owner: object | undefined } = { isOpen: false, owner: undefined };

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.checkVisibility() && // a field that closed with its dialog has the focus until the next frame
  (target.isContentEditable ||
    (['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName) &&
      !['range', 'checkbox', 'radio'].includes(target.getAttribute('type') ?? '')));

/** True where keys would begin at the top of the page again. What is hidden keeps the focus until the next frame. */
export const isFocusLost = (): boolean => {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || !activeElement.checkVisibility();
};
