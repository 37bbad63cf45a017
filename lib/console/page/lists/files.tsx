import { useSignal } from '@preact/signals';
import type { Answer } from '../../../client/index.js';
import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';
import { go, linkTo } from '../place.js';
import { FileList } from './file-list.js';

/** What was uploaded, and the skills that agents have. */
export function Files() {
  const skills = useLoaded('skills', () => must(client.get('/api/skills')), { touches: named(/^skills:/) });
  return (
    <>
      <FileList />
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
