import { useRef } from 'preact/hooks';
import { actorPath, ask } from '../../../page/ask.js';
import { useAction } from '../../../page/action.js';
import { useKeys } from '../../../page/keys.js';
import { go } from '../place.js';
import type { Fleet } from '../../answers.js';

/**
 * Go to an actor of which one knows the id; its kind need not be known. Opened with `/`, or with the button
 * that it leaves in the frame.
 */
export function Jump() {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const { message, attempt } = useAction();
  const search = (): void => {
    dialog.current?.showModal();
    field.current?.select();
  };
  useKeys({ '/': search });

  async function find(): Promise<string | void> {
    const wanted = field.current?.value.trim() ?? '';
    const found = wanted === '' ? undefined : await findActor(wanted);
    if (found === undefined) return wanted === '' ? undefined : 'No actor of any kind has this id.';
    dialog.current?.close();
    go({ view: 'actor', ...found });
  }

  return (
    <>
      <button
        type="button"
        class="find"
        onClick={search}
        aria-haspopup="dialog"
        aria-keyshortcuts="/"
        title="Go to an actor (/)"
      >
        <svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
          <path d="M12 8a4.500 4.500 0 1 1-9 0 4.500 4.500 0 0 1 9 0zM11 11.500l4 4" />
        </svg>
        <span>Find</span>
      </button>
      <dialog ref={dialog} class="jump" aria-label="Go to an actor">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void attempt(find, 'Loading …');
          }}
        >
          <label for="jump">Go to an actor</label>
          <input
            id="jump"
            ref={field}
            placeholder="id, or kind/id"
            autocomplete="off"
            spellcheck={false}
            maxLength={300}
            enterkeyhint="go"
          />
          <p role="status" class="soft">
            {message || 'Enter opens it, Escape closes this.'}
          </p>
          <p class="ways">
            <button type="submit" class="primary">
              Go
            </button>
            <button type="button" onClick={() => dialog.current?.close()}>
              Close
            </button>
          </p>
        </form>
      </dialog>
    </>
  );
}

async function findActor(wanted: string): Promise<{ kind: string; id: string } | undefined> {
  const { kinds } = await ask<Fleet>('/api/inspect/fleet');
  const slash = wanted.indexOf('/');
  const named = kinds.find(({ kind }) => slash > 0 && kind === wanted.slice(0, slash));
  const candidates = named
    ? [{ kind: named.kind, id: wanted.slice(slash + 1) }]
    : kinds.map(({ kind }) => ({ kind, id: wanted }));
  const found = await Promise.all(
    candidates.map((key) =>
      ask(actorPath(key)).then(
        () => key,
        () => undefined,
      ),
    ),
  );
  return found.find((key) => key !== undefined);
}
