import { useAction } from '../../../page/action.js';
import { download } from '../../../page/ask.js';
import { now, span, whole } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { LongList } from '../../../page/parts/long-list.js';
import { named, useLoaded } from '../live.js';
import { Answered } from '../parts/answered.js';

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
                {list.map((skill) => {
                  const { name, description } = skill as Readonly<Record<string, unknown>>;
                  return (
                    <li key={String(name)}>
                      <span class="title">{String(name)}</span>
                      <span class="soft clip">{typeof description === 'string' ? description : ''}</span>
                    </li>
                  );
                })}
              </ul>
            )
          }
        </Answered>
      </section>
    </>
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
