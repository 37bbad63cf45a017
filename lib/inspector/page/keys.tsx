import { useEffect, useRef } from 'preact/hooks';
import { go, type Place } from './place.js';

/**
 * The keyboard: `g` and a letter goes to a view, `/` looks for an actor, `?` lists the keys. Never while
 * somebody types.
 */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  const going = useRef(false);
  useKeys((key) => {
    const to = going.current ? views[key] : undefined;
    going.current = key === 'g' && !going.current;
    if (to !== undefined) go(to);
    else if (key === '?') dialog.current?.showModal();
    else return false;
    return true;
  });
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>
        {keys.map(([key, does]) => (
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

/** Do something at a key, by name or by what a function says of it. Never while somebody types. */
export function useKeys(actions: Readonly<Record<string, () => void>> | ((key: string) => boolean)): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      const { current } = latest;
      if (typeof current === 'function') {
        if (current(event.key)) event.preventDefault();
      } else if (Object.hasOwn(current, event.key)) {
        event.preventDefault();
        current[event.key]?.();
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    (['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName) && target.getAttribute('type') !== 'range'));

const views: Readonly<Record<string, Place>> = {
  f: { view: 'fleet' },
  t: { view: 'time' },
  s: { view: 'supervision' },
  r: { view: 'runs' },
};
const keys: readonly (readonly [string, string])[] = [
  ['/', 'go to an actor by kind and id'],
  ['g f', 'the fleet'],
  ['g t', 'time'],
  ['g s', 'supervision'],
  ['g r', 'workflow runs'],
  ['↑ ↓', 'one actor up or down in the list'],
  ['Enter', 'open it'],
  ['[ ]', 'a step back or forward in time'],
  ['l', 'back to now'],
  ['?', 'this list'],
];
