import type { Signal } from '@preact/signals';
import { client, must } from '../../../page/gateway.js';
import type { Changes } from '../session.js';
import { PatchOnDemand } from './patch-on-demand.js';

/** Each file with what was done to it; opened, line by line. Marked ones are decided on alone. */
export function ChangedFiles({
  id,
  changes: { files, folder, version, hasMoreFiles, within },
  marked,
}: {
  readonly id: string;
  readonly changes: Changes;
  readonly marked: Signal<ReadonlySet<string>>;
}) {
  const mark = (path: string, isMarked: boolean): void => {
    const next = new Set(marked.value);
    if (isMarked) next.add(path);
    else next.delete(path);
    marked.value = next;
  };
  const read = async (path: string, signal: AbortSignal): Promise<string> => {
    const at = { path: { id }, query: { path } };
    const { patch, isCut } = await must(
      client.get('/api/sessions/{id}/changes/patch', { params: at, signal }),
    );
    return isCut ? `${patch}\n… it is longer: open the file in your editor` : patch;
  };
  return (
    <>
      {files.length === 0 && <p class="empty">Nothing has changed.</p>}
      <ul class="files">
        {files.map(({ path, change, renamedFrom, added, removed, isCommitted }) => (
          <li key={`${version}/${path}`} data-file={path}>
            <PatchOnDemand
              label={path}
              opened={files.length === 1}
              read={(signal) => read(path, signal)}
              before={
                <input
                  type="checkbox"
                  aria-label={`Mark ${path}`}
                  checked={marked.value.has(path)}
                  onChange={({ currentTarget }) => mark(path, currentTarget.checked)}
                />
              }
              after={
                <a
                  class="quiet small"
                  href={editorLink(folder ?? '', path)}
                  aria-label={`Editor: open ${path}`}
                >
                  Editor
                </a>
              }
            >
              <b class={`state ${change === 'added' ? 'done' : change === 'removed' ? 'bad' : 'rest'}`}>
                {change}
              </b>
              <span class="clip mono">
                {renamedFrom !== null && <span class="soft">{renamedFrom} → </span>}
                {path}
              </span>
              {!isCommitted && <span class="state wait">not committed</span>}
              <span class="lines num end">
                {added === null ? (
                  <span class="soft">no text</span>
                ) : (
                  <>
                    <span class="added">+{added}</span> <span class="removed">−{removed}</span>
                  </>
                )}
              </span>
            </PatchOnDemand>
          </li>
        ))}
      </ul>
      {hasMoreFiles && <p class="soft small">There are more than these. Use git for all of them.</p>}
      {within.map((path) => (
        <p key={path} class="small" data-within>
          <code>{path}</code> is a repository of its own. What is in it is not shown, and no commit or merge
          takes it along: it stays in <code>{`${folder ?? ''}/${path}`}</code>.
        </p>
      ))}
    </>
  );
}

/** Opened by the browser's own machine, where the folder is on it; the gateway starts nothing. */
const editorLink = (folder: string, path: string): string =>
  `vscode://file/${`${folder}/${path}`.split('/').filter(Boolean).map(encodeURIComponent).join('/')}`;
