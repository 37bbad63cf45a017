import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { actorPath, ask, said } from '../ask.js';
import { typing } from '../keys.js';
import { go } from '../place.js';
import type { Fleet } from '../../answers.js';

/** Go to an actor of which one knows the id; its kind need not be known. Opened with `/`. */
export function Jump() {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const told = useSignal('');
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      event.preventDefault();
      told.value = '';
      dialog.current?.showModal();
      field.current?.select();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);

  async function find(): Promise<void> {
    const wanted = field.current?.value.trim() ?? '';
    if (wanted === '') return;
    told.value = 'Looking …';
    try {
      const found = await findActor(wanted);
      if (found === undefined) told.value = 'No actor of any kind has this id.';
      else {
        dialog.current?.close();
        go({ view: 'actor', ...found });
      }
    } catch (error) {
      told.value = said(error);
    }
  }

  return (
    <dialog ref={dialog} class="jump" aria-label="Go to an actor">
      <form onSubmit={(event) => { event.preventDefault(); void find(); }}>
        <label for="jump">Go to an actor</label>
        <input id="jump" ref={field} placeholder="id, or kind/id" autocomplete="off" spellcheck={false} maxLength={300} />
        <p role="status" class="soft">{told.value || 'Enter opens it, Escape closes this.'}</p>
      </form>
    </dialog>
  );
}

async function findActor(wanted: string): Promise<{ kind: string; id: string } | undefined> {
  const { kinds } = await ask<Fleet>('/api/inspect/fleet');
  const slash = wanted.indexOf('/');
  const named = kinds.find(({ kind }) => slash > 0 && kind === wanted.slice(0, slash));
  const candidates = named ? [{ kind: named.kind, id: wanted.slice(slash + 1) }] : kinds.map(({ kind }) => ({ kind, id: wanted }));
  const found = await Promise.all(candidates.map((key) => ask(actorPath(key)).then(() => key, () => undefined)));
  return found.find((key) => key !== undefined);
}
