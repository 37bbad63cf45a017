import { useSignal } from '@preact/signals';
import type { Answer } from '../../../client/index.js';
import { useAction } from '../../../page/action.js';
import { now, span, withUtc } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Answered, Fault } from '../parts/answered.js';
import { linkTo } from '../place.js';
import { NewText } from './new-text.js';

type Page = Answer<'/api/knowledge', 'get'>;
type Found = Answer<'/api/knowledge/search', 'get'>['results'];

/** What agents know of this company: all of it, last changed first, or what holds some words; read and written. */
export function Knowledge() {
  const words = useSignal('');
  const found = useSignal<Found | undefined>(undefined);
  const { message, busy, attempt } = useAction();
  return (
    <section class="panel" aria-labelledby="knowledge-title">
      <h2 id="knowledge-title">Knowledge</h2>
      <form
        class="ways"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          const q = words.value.trim();
          if (q === '') return;
          void attempt(async () => {
            const { results } = await must(client.get('/api/knowledge/search', { params: { query: { q } } }));
            found.value = words.value.trim() === '' ? undefined : results;
            return results.length === 0 ? 'Nothing holds all of these words.' : '';
          });
        }}
      >
        <input
          type="search"
          aria-label="Words in knowledge"
          placeholder="Find in knowledge"
          value={words.value}
          maxLength={300}
          onInput={(event) => {
            words.value = event.currentTarget.value;
            if (words.value.trim() === '') found.value = undefined;
          }}
        />
        <button type="submit" disabled={busy}>
          Find
        </button>
        <span class="small soft" role="status">
          {(found.value !== undefined || busy) && message}
        </span>
      </form>
      {found.value === undefined ? <Everything /> : <Hits found={found.value} />}
      <NewText label="Name of a new page" button="Write a page" pathOf={(name) => `knowledge/${name}.md`} />
    </section>
  );
}

function Hits({ found }: { readonly found: Found }) {
  return (
    <ul class="rows">
      {found.map(({ path, title, snippet }) => (
        <li key={path}>
          <a href={linkTo({ view: 'text', path })} data-knowledge={path}>
            <span class="title">{title}</span>
            <span class="soft clip">
              {snippet.split(/[«»]/).map((part, n) => (n % 2 === 1 ? <mark key={n}>{part}</mark> : part))}
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Files change without a word on the feed: read again now and then. */
const everyMs = 15_000;

function Everything() {
  const first = useLoaded('knowledge', () => read(), { everyMs });
  const devices = useLoaded('devices', () => must(client.get('/api/auth/devices')), {
    touches: named(/^device:/),
  });
  const older = useSignal<readonly Page[]>([]);
  const { message, busy, attempt } = useAction();
  const writerOf = (by: string): string =>
    by === 'operator'
      ? 'operator'
      : (devices.value.value?.devices.find(({ id }) => by === `device:${id}`)?.name ?? 'a paired device');
  return (
    <Answered loaded={first}>
      {(newest) => {
        const pages = [newest, ...older.value];
        // What was changed since has moved to the first page
        const documents = new Map(
          pages
            .toReversed()
            .flatMap((page) => page.documents)
            .map((document) => [document.path, document]),
        );
        const listed = pages
          .flatMap((page) => page.documents)
          .filter((one) => documents.get(one.path) === one);
        const next = pages.at(-1)?.nextCursor ?? null;
        return (
          <>
            {!newest.complete && <p class="soft small">It is still being read.</p>}
            {listed.length === 0 && newest.complete && (
              <p class="empty">
                Nothing yet. A page is a text in the folder knowledge of the home that agents search and read.
              </p>
            )}
            <ul class="rows">
              {listed.map(({ path, title, changedAt, changedBy }) => (
                <li key={path}>
                  <a href={linkTo({ view: 'text', path })} data-knowledge={path}>
                    <span class="title">{title}</span>
                    <span class="soft clip">{path}</span>
                    <span class="soft small end" title={withUtc(Date.parse(changedAt))}>
                      {changedBy !== null && `${writerOf(changedBy)}, `}
                      <span class="num">{span(now.value - Date.parse(changedAt))}</span> ago
                    </span>
                  </a>
                </li>
              ))}
            </ul>
            {next !== null && (
              <p class="ways">
                <button
                  type="button"
                  class="quiet"
                  disabled={busy}
                  onClick={() =>
                    void attempt(async () => {
                      older.value = [...older.value, await read(next)];
                    })
                  }
                >
                  Show older
                </button>
              </p>
            )}
            <Fault message={message} />
          </>
        );
      }}
    </Answered>
  );
}

const read = (cursor = ''): Promise<Page> =>
  must(client.get('/api/knowledge', { params: { query: { cursor, limit: '30' } } }));
