import { useSignal } from '@preact/signals';
import type { Answer } from '../../../client/index.js';
import { useAction } from '../../../page/action.js';
import { download } from '../../../page/ask.js';
import { now, span, whole } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { LongList } from '../../../page/parts/long-list.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { go, linkTo } from '../place.js';

/** What was uploaded, and the skills that agents have. */
export function Files() {
  const files = useLoaded('files', readFiles, { touches: named(/^file:/) });
  const skills = useLoaded('skills', () => must(client.get('/api/skills')), { touches: named(/^skills:/) });
  const { message, attempt } = useAction();
  return (
    <>
      <section class="panel" aria-labelledby="files-title">
        <h2 id="files-title">Files</h2>
        {message !== '' && (
          <p class="bad small" role="alert">
            {message}
          </p>
        )}
        <Answered loaded={files}>
          {(list) =>
            list.length === 0 ? (
              <p class="empty">
                No files. What one attaches to a message, and what agents attach, is kept here.
              </p>
            ) : (
              <LongList
                class="rows"
                items={list}
                keyOf={(file) => String((file as { readonly id?: unknown }).id)}
                heightPx={40}
                row={(file, at) => {
                  const { id, filename, size, createdAt } = file as Readonly<Record<string, unknown>>;
                  const name = String(filename ?? id);
                  return (
                    <li key={String(id)} {...at}>
                      <span class="title clip">{name}</span>
                      <span class="soft num">{bytes(Number(size ?? 0))}</span>
                      {typeof createdAt === 'string' && (
                        <span class="soft num">{span(now.value - Date.parse(createdAt))}</span>
                      )}
                      <button
                        type="button"
                        class="quiet end"
                        aria-label={`Save ${name}`}
                        onClick={() =>
                          void attempt(() => download(`/api/files/${encodeURIComponent(String(id))}`, name))
                        }
                      >
                        Save
                      </button>
                    </li>
                  );
                }}
              />
            )
          }
        </Answered>
      </section>
      <section class="panel" aria-labelledby="skills-title">
        <h2 id="skills-title">Skills</h2>
        <Answered loaded={skills}>
          {(list) =>
            list.length === 0 ? (
              <p class="empty">
                No skills. A skill is a text in the folder skills of the home that agents read when they need
                it.
              </p>
            ) : (
              <ul class="rows">
                {list.map(({ name, description }) => (
                  <li key={name}>
                    <a href={linkTo({ view: 'text', path: `skills/${name}/SKILL.md` })} data-skill={name}>
                      <span class="title">{name}</span>
                      <span class="soft clip">{description}</span>
                    </a>
                  </li>
                ))}
              </ul>
            )
          }
        </Answered>
        <NewText
          label="Name of a new skill"
          button="Write a skill"
          pathOf={(name) => `skills/${name}/SKILL.md`}
        />
      </section>
      <Knowledge />
    </>
  );
}

/** What agents know of this company: found by words, read and written. */
function Knowledge() {
  const words = useSignal('');
  const found = useSignal<Answer<'/api/knowledge/search', 'get'>['results'] | undefined>(undefined);
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
            found.value = results;
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
          }}
        />
        <button type="submit" disabled={busy}>
          Find
        </button>
        <span class="small soft" role="status">
          {message}
        </span>
      </form>
      <ul class="rows">
        {found.value?.map(({ path, title, snippet }) => (
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
      <NewText label="Name of a new page" button="Write a page" pathOf={(name) => `knowledge/${name}.md`} />
    </section>
  );
}

function NewText({
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

/** Without a cursor they come all at once, as a list. */
async function readFiles() {
  const answer: unknown = await must(client.get('/api/files'));
  return Array.isArray(answer) ? (answer as readonly object[]) : [];
}

const bytes = (size: number): string =>
  size < 1_024
    ? `${whole(size)} B`
    : size < 1_048_576
      ? `${(size / 1_024).toFixed(1)} KB`
      : `${(size / 1_048_576).toFixed(1)} MB`;
