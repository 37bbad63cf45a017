import { useSignal } from '@preact/signals';
import { useAction } from '../../../page/action.js';
import { download } from '../../../page/ask.js';
import { now, span, whole } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { LongList } from '../../../page/parts/long-list.js';
import { named, useLoaded } from '../live.js';
import { Answered, Fault } from '../parts/answered.js';
import { FilePreview } from '../parts/file-preview.js';

/** What was uploaded and what agents attached: found by name, looked at, saved. */
export function FileList() {
  const files = useLoaded('files', readFiles, { touches: named(/^file:/) });
  const wanted = useSignal('');
  const open = useSignal<StoredFile | undefined>(undefined);
  const { message, attempt } = useAction();
  const close = (): void => {
    open.value = undefined;
  };
  return (
    <section class="panel" aria-labelledby="files-title">
      <h2 id="files-title">Files</h2>
      <Fault message={message} />
      <Answered loaded={files}>
        {(list) => {
          if (list.length === 0)
            return (
              <p class="empty">
                No files. What one attaches to a message, and what agents attach, is kept here.
              </p>
            );
          const words = wanted.value.trim().toLowerCase();
          const found = list.filter(({ name }) => name.toLowerCase().includes(words));
          return (
            <>
              <input
                type="search"
                aria-label="Find a file"
                placeholder="Find a file"
                value={wanted.value}
                maxLength={200}
                onInput={(event) => {
                  wanted.value = event.currentTarget.value;
                }}
              />
              {found.length === 0 && <p class="empty">No file has this in its name.</p>}
              <LongList
                class="rows"
                items={found}
                keyOf={({ id }) => id}
                heightPx={40}
                row={({ id, name, size, createdAt }, at) => (
                  <li key={id} {...at}>
                    <button
                      type="button"
                      class="title clip plain"
                      aria-expanded={open.value?.id === id}
                      aria-label={`Show ${name}`}
                      onClick={() => {
                        open.value = open.value?.id === id ? undefined : { id, name, size, createdAt };
                      }}
                    >
                      {name}
                    </button>
                    <span class="soft num">{bytes(size)}</span>
                    {createdAt !== undefined && (
                      <span class="soft num">{span(now.value - Date.parse(createdAt))}</span>
                    )}
                    <button
                      type="button"
                      class="quiet end"
                      aria-label={`Save ${name}`}
                      onClick={() =>
                        void attempt(() => download(`/api/files/${encodeURIComponent(id)}`, name))
                      }
                    >
                      Save
                    </button>
                  </li>
                )}
              />
            </>
          );
        }}
      </Answered>
      {open.value !== undefined && <FilePreview key={open.value.id} {...open.value} close={close} />}
    </section>
  );
}

interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly createdAt: string | undefined;
}

/** Without a cursor they come all at once, as a list. */
async function readFiles(): Promise<readonly StoredFile[]> {
  const answer: unknown = await must(client.get('/api/files'));
  if (!Array.isArray(answer)) return [];
  return (answer as readonly Readonly<Record<string, unknown>>[]).map(
    ({ id, filename, size, createdAt }) => ({
      id: String(id),
      name: String(filename ?? id),
      size: Number(size ?? 0),
      createdAt: typeof createdAt === 'string' ? createdAt : undefined,
    }),
  );
}

const bytes = (size: number): string =>
  size < 1_024
    ? `${whole(size)} B`
    : size < 1_048_576
      ? `${(size / 1_024).toFixed(1)} KB`
      : `${(size / 1_048_576).toFixed(1)} MB`;
