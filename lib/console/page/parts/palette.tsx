import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useAction } from '../../../page/action.js';
import { useKeys } from '../../../page/keys.js';
import { client, must } from '../../../page/gateway.js';
import { go } from '../place.js';
import type { View } from '../view-list.js';

interface Hit {
  readonly id: string;
  readonly sort: string;
  readonly title: string;
  readonly run: () => Promise<unknown> | void;
}

/** Find anything, do anything: `/` or ⌘K. Views and operations at once, sessions and work items as one types. */
export function Palette({ views }: { readonly views: readonly View[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useSignal('');
  const found = useSignal<readonly Hit[] | undefined>(undefined);
  const at = useSignal(0);
  const { message, attempt } = useAction();
  const open = (): void => {
    if (dialog.current?.open === true) return;
    text.value = '';
    at.value = 0;
    dialog.current?.showModal();
  };
  useKeys({ '/': open });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      open();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  useEffect(() => {
    found.value = undefined;
    const q = text.value.trim();
    if (q === '') return;
    const end = new AbortController();
    const timer = setTimeout(() => {
      void search(q, end.signal).then(
        (hits) => {
          if (!end.signal.aborted) found.value = hits;
        },
        () => {
          if (!end.signal.aborted) found.value = []; // the next letter asks again
        },
      );
    }, 120);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [text.value]);
  const q = text.value.trim();
  const hits = hitsOf(views, q, found.value);
  const run = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    void attempt(async () => {
      await hit.run();
      dialog.current?.close();
    });
  };
  return (
    <>
      <button type="button" class="find" onClick={open} aria-haspopup="dialog" title="Find or do (/)">
        <svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
          <path d="M12 8a4.500 4.500 0 1 1-9 0 4.500 4.500 0 0 1 9 0zM11 11.500l4 4" />
        </svg>
        <span>Find</span>
      </button>
      <dialog ref={dialog} class="palette" aria-label="Find or do">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            run(hits[at.value]);
          }}
        >
          <input
            value={text.value}
            placeholder="Find a session, a work item, a view; or write what is to be done"
            aria-label="Find or do"
            role="combobox"
            aria-expanded={hits.length > 0}
            aria-controls="palette-hits"
            aria-activedescendant={hits.length > 0 ? `hit-${at.value}` : undefined}
            autocomplete="off"
            spellcheck={false}
            maxLength={300}
            onInput={(event) => {
              text.value = event.currentTarget.value;
              at.value = 0; // at once: an arrow that follows begins there
            }}
            onKeyDown={(event) => {
              const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
              if (by === 0) return;
              event.preventDefault();
              at.value = Math.max(0, Math.min(hits.length - 1, at.value + by));
            }}
          />
          <ul id="palette-hits" role="listbox" aria-label="Found">
            {hits.map((hit, n) => (
              <li
                key={hit.id}
                id={`hit-${n}`}
                role="option"
                aria-selected={n === at.value}
                onClick={() => run(hit)}
                onPointerMove={() => {
                  at.value = n;
                }}
              >
                <span class="title clip">{hit.title}</span>
                <span class="soft small">{hit.sort}</span>
              </li>
            ))}
          </ul>
          <p class={`small ${message === '' ? 'soft' : 'bad'}`} role="status">
            {message || 'Enter opens it, Escape closes this.'}
          </p>
        </form>
      </dialog>
    </>
  );
}

/**
 * What there is before what the words could be made into, which is offered once it is known what there is: one who
 * looks for something and presses Enter must not have set an agent to work.
 */
function hitsOf(views: readonly View[], q: string, found: readonly Hit[] | undefined): readonly Hit[] {
  if (q === '') return [...doable(q), ...reachable(views, q)];
  if (found === undefined) return reachable(views, q);
  return [...[...reachable(views, q), ...found].slice(0, 12), ...doable(q)];
}

const reachable = (views: readonly View[], q: string): readonly Hit[] =>
  views
    .filter(({ name }) => isIn(q, name))
    .map(({ to, name }) => ({ id: `view/${name}`, sort: 'View', title: name, run: () => go(to) }));

/** What the words could be made into. */
function doable(q: string): readonly Hit[] {
  if (q === '') return [{ id: 'new', sort: 'Do', title: 'New session', run: () => go({ view: 'chat' }) }];
  if (q.length < 3) return [];
  return [
    {
      id: 'ask',
      sort: 'Do',
      title: `Ask an agent: ${q}`,
      run: async () => {
        const { id } = await must(client.post('/api/sessions', { body: { prompt: q } }));
        go({ view: 'chat', id });
      },
    },
    {
      id: 'item',
      sort: 'Do',
      title: `New work item: ${q}`,
      run: async () => {
        const { workItem } = await must(client.post('/api/work-items', { body: { title: q } }));
        go({ view: 'item', id: workItem.id });
      },
    },
  ];
}

async function search(q: string, signal: AbortSignal): Promise<readonly Hit[]> {
  const [sessions, items] = await Promise.all([
    must(client.get('/api/sessions', { params: { query: { q } }, signal })),
    must(client.get('/api/work-items', { params: { query: { q, limit: '6' } }, signal })),
  ]);
  return [
    ...items.workItems.map(({ id, title }) => ({
      id: `item/${id}`,
      sort: 'Work item',
      title: `${id} ${title}`,
      run: () => go({ view: 'item', id }),
    })),
    ...(Array.isArray(sessions) ? sessions : sessions.sessions).slice(0, 6).map((session) => ({
      id: `session/${session.id}`,
      sort: 'Session',
      title: session.title ?? session.promptExcerpt ?? session.id,
      run: () => go({ view: 'chat', id: session.id }),
    })),
  ];
}

/** The letters of one in the order in which they are in the other. */
function isIn(wanted: string, name: string): boolean {
  let from = 0;
  for (const letter of wanted.toLowerCase()) {
    const at = name.toLowerCase().indexOf(letter, from);
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
}
