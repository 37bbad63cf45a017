import { useEffect, useRef } from 'preact/hooks';
import { go, type Place } from './place.js';

/** The keyboard: `g` and a letter goes to a view, `/` looks for an actor, `?` lists the keys. Never while somebody types. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let going = false;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      const to = going ? views[event.key] : undefined;
      going = event.key === 'g' && !going;
      if (to !== undefined) go(to);
      else if (event.key === '?') dialog.current?.showModal();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>{keys.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}</dl>
      <form method="dialog"><button class="primary">Close</button></form>
    </dialog>
  );
}

export const typing = (target: EventTarget | null): boolean => target instanceof HTMLElement && (target.isContentEditable || (['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName) && target.getAttribute('type') !== 'range'));

const views: Readonly<Record<string, Place>> = { f: { view: 'fleet' }, t: { view: 'time' }, s: { view: 'supervision' }, r: { view: 'runs' } };
const keys: readonly (readonly [string, string])[] = [
  ['/', 'go to an actor by kind and id'],
  ['g f', 'the fleet'], ['g t', 'time'], ['g s', 'supervision'], ['g r', 'workflow runs'],
  ['↑ ↓', 'one actor up or down in the list'], ['Enter', 'open it'],
  ['[ ]', 'a step back or forward in time'], ['l', 'back to now'],
  ['?', 'this list'],
];
