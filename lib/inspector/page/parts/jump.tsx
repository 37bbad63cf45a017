import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { actorPath, ask, Refused } from '../../../page/ask.js';
import { useAction } from '../../../page/action.js';
import { useKeys } from '../../../page/keys.js';
import { go } from '../place.js';
import type { Fleet } from '../../answers.js';
import type { ActorKey } from '../../../../machines/outputs.js';

/**
 * Go to an actor of which one knows the id, or words of its title; its kind need not be known. Opened with `/`,
 * or with the button that it leaves in the frame.
 */
export function Jump() {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const { message, attempt } = useAction();
  const hits = useSignal<readonly Hit[]>([]);
  const search = (): void => {
    dialog.current?.showModal();
    field.current?.select();
  };
  useKeys({ '/': search });

  async function find(): Promise<string | void> {
    const wanted = field.current?.value.trim() ?? '';
    hits.value = [];
    if (wanted === '') return undefined;
    const found = await findActor(wanted);
    if (found !== undefined) return open(found);
    hits.value = await findWords(wanted);
    if (hits.value.length === 0) return 'No actor of any kind has this id, and no title these words.';
    return `${hits.value.length} found.`;
  }
  function open(actor: ActorKey): undefined {
    dialog.current?.close();
    go({ view: 'actor', kind: actor.kind, id: actor.id });
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
            placeholder="id, kind/id, or words of a title"
            autocomplete="off"
            spellcheck={false}
            maxLength={300}
            enterkeyhint="go"
          />
          <p role="status" class="soft">
            {message || 'Enter opens it, Escape closes this.'}
          </p>
          {hits.value.length > 0 && (
            <ul class="hits">
              {hits.value.map((hit) => (
                <li key={`${hit.kind}/${hit.id}`}>
                  <button type="button" class="quiet" onClick={() => open(hit)}>
                    {hit.title} <small class="soft">{hit.kind}</small>
                  </button>
                </li>
              ))}
            </ul>
          )}
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

interface Hit extends ActorKey {
  readonly title: string;
}

/** Work items and sessions by words. Where an application serves the inspector alone, there are none to search. */
async function findWords(words: string): Promise<readonly Hit[]> {
  const q = `q=${encodeURIComponent(words)}&limit=8`;
  const [items, sessions] = await Promise.all([
    ask<{ readonly workItems: readonly Found[] }>(`/api/search/work-items?${q}`).catch(noneHere),
    ask<{ readonly sessions: readonly Found[] }>(`/api/search/sessions?${q}`).catch(noneHere),
  ]);
  const hit = (kind: string) => (found: Found) => ({ kind, id: found.id, title: found.title ?? found.id });
  return [
    ...('workItems' in items ? items.workItems.map(hit('work-item')) : []),
    ...('sessions' in sessions ? sessions.sessions.map(hit('session')) : []),
  ];
}

interface Found {
  readonly id: string;
  readonly title: string | null;
}

function noneHere(error: unknown): Record<string, never> {
  if (error instanceof Refused && error.status === 404) return {};
  throw error;
}
