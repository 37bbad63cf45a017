import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { parse, stringify } from 'yaml';
import { useAction } from '../../../page/action.js';
import { Refused, said } from '../../../page/ask.js';
import { client, must } from '../../../page/gateway.js';
import { dropDraft, keepDraft, readDraft } from '../../../page/draft.js';
import { ImportPreview, type ImportReport } from '../parts/patch.js';
import { Markdown } from '../parts/markdown.js';
import { linkTo, type Place } from '../place.js';

/**
 * A text that a person keeps in the home: an employee, a skill, a page of knowledge. It is read, written, and saved
 * after one has seen line by line what that changes; what another has changed meanwhile is not overwritten unseen.
 */
export function TextPage({ path }: { readonly path: string }) {
  const start = useSignal<Start | undefined>(undefined);
  const error = useSignal<string | undefined>(undefined);
  useEffect(() => {
    void readText(path).then(
      (found) => {
        start.value = found;
      },
      (failed: unknown) => {
        error.value = said(failed);
      },
    );
  }, []);
  const [folder = '', name = ''] = path.split('/');
  const back: Place = { view: folder === 'org' ? 'organisation' : 'files' };
  return (
    <div class="view text">
      <p class="crumbs">
        <a href={linkTo(back)}>{folder === 'org' ? 'Organisation' : 'Files and skills'}</a> /{' '}
        <code>{path}</code>
      </p>
      <h1>{folder === 'skills' ? name : (path.split('/').at(-1) ?? path)}</h1>
      {start.value === undefined ? (
        <p class={error.value === undefined ? 'soft' : 'notice bad'}>{error.value ?? 'Loading …'}</p>
      ) : (
        <Text path={path} {...start.value} />
      )}
    </div>
  );
}

interface Start {
  readonly text: string;
  readonly isNew: boolean;
  /** Why it cannot be changed here. */
  readonly fixed: string | undefined;
}

function Text({ path, text: first, isNew, fixed }: Start & { readonly path: string }) {
  const slot = `text.${path}`;
  const draft = useMemo(() => (fixed === undefined ? readDraft(slot) : undefined), []);
  const text = useSignal(draft?.text ?? first);
  const saved = useSignal(isNew ? '' : first);
  const writing = useSignal(isNew || draft !== undefined);
  const found = useSignal(draft);
  const preview = useSignal<ImportReport | undefined>(undefined);
  const { message, busy, attempt } = useAction();
  const bundle = (): string =>
    stringify({ troupe: 1, title: path.slice(-200), files: { [path]: text.value } });
  const review = (): void =>
    void attempt(async () => {
      preview.value = await must(client.post('/api/import', { body: { bundle: bundle() } }));
    });
  const save = ({ sha256 }: ImportReport): void =>
    void attempt(async () => {
      const options = { apply: true, replace: true, sha256 };
      await must(client.post('/api/import', { body: { bundle: bundle(), ...options } }));
      saved.value = text.value;
      preview.value = undefined;
      writing.value = false;
      found.value = undefined;
      dropDraft(slot);
      return 'Saved.';
    });
  const write = (next: string): void => {
    text.value = next;
    preview.value = undefined;
    if (next === first || next === saved.value) dropDraft(slot);
    else keepDraft(slot, { text: next, version: 0, at: Date.now(), from: found.value?.from ?? first });
  };
  const discard = (): void => {
    text.value = isNew && saved.value === '' ? first : saved.value;
    preview.value = undefined;
    writing.value = isNew && saved.value === '';
    found.value = undefined;
    dropDraft(slot);
  };
  return (
    <>
      {fixed !== undefined && <p class="notice">{fixed}</p>}
      {found.value !== undefined && (
        <p class="notice" data-draft>
          This was not saved when you left: it is kept on this device only.
          {found.value.from !== first &&
            ' The file has changed since: see what your text would undo before you save it.'}
        </p>
      )}
      <p class="ways">
        {!writing.value && fixed === undefined && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              writing.value = true;
            }}
          >
            Edit
          </button>
        )}
        <span class="small" role="status" data-outcome>
          {message}
        </span>
      </p>
      {!writing.value ? (
        <section class="panel" aria-label="Text">
          {path.endsWith('.md') ? (
            <Markdown text={saved.value.replace(/^---\n[\s\S]*?\n---\n/, '')} />
          ) : (
            <pre class="plain" tabIndex={0} role="group" aria-label={path}>
              {saved.value}
            </pre>
          )}
        </section>
      ) : (
        <section class="panel" aria-label="Write">
          <textarea
            class="yaml"
            aria-label={path}
            spellcheck={false}
            value={text.value}
            onInput={(event) => write(event.currentTarget.value)}
          />
          <p class="ways">
            <button type="button" disabled={busy || text.value === saved.value} onClick={review}>
              Show what changes
            </button>
            {(!isNew || text.value !== first) && (
              <button type="button" class="quiet" onClick={discard}>
                {isNew ? 'Discard the draft' : 'Leave it as it was'}
              </button>
            )}
          </p>
          {preview.value !== undefined && (
            <>
              <ImportPreview report={preview.value} />
              <p class="ways">
                <button
                  type="button"
                  class="primary"
                  disabled={busy}
                  onClick={() => preview.value !== undefined && save(preview.value)}
                >
                  Save
                </button>
              </p>
            </>
          )}
        </section>
      )}
    </>
  );
}

async function readText(path: string): Promise<Start> {
  const [folder, second = '', file = ''] = path.split('/');
  try {
    if (folder === 'org') return await readEmployee(path, file.replace(/\.yaml$/, ''));
    if (folder === 'skills') {
      const { content } = await must(
        client.get('/api/skills/{name}', { params: { path: { name: second } } }),
      );
      return { text: content, isNew: false, fixed: undefined };
    }
    const { content, truncated, totalChars } = await must(
      client.get('/api/knowledge/read', { params: { query: { path } } }),
    );
    const fixed = truncated
      ? `It has ${totalChars} characters, of which the first are shown. Change it in the home's folder.`
      : path.startsWith('knowledge/')
        ? undefined
        : 'It is changed where it is kept: only knowledge/ is written here.';
    return { text: content, isNew: false, fixed };
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    return { text: beginningOf(path), isNew: true, fixed: undefined };
  }
}

/** The file itself, with its comments. */
async function readEmployee(path: string, name: string): Promise<Start> {
  const { bundle, secretsRemoved } = await must(
    client.get('/api/export', { params: { query: { what: 'employee', name } } }),
  );
  const { files = {} } = parse(bundle) as { readonly files?: Readonly<Record<string, string>> };
  const text = files[path];
  if (text === undefined) throw new Error(`${name} is kept in ${Object.keys(files).join(', ')}.`);
  const fixed =
    secretsRemoved > 0
      ? 'It seems to hold a key, which is not shown. Change it in the folder of the home, and keep the key elsewhere.'
      : undefined;
  return { text, isNew: false, fixed };
}

function beginningOf(path: string): string {
  const [folder, name = '', file = ''] = path.split('/');
  if (folder === 'org')
    return [
      `displayName: ${file.replace(/\.yaml$/, '')}`,
      'rank: employee',
      'persona: |',
      '  What this employee does, and how.',
      '',
    ].join('\n');
  if (folder === 'skills')
    return `---\nname: ${name}\ndescription: When to use it.\n---\n\nWhat to do, step by step.\n`;
  return '# Title\n';
}
