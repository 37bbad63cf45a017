import { useSignal, type Signal } from '@preact/signals';
import { useAction } from '../../../page/action.js';
import { client, must } from '../../../page/gateway.js';
import type { Changes } from '../session.js';

/** Commit, discard and merge, each with what it would do or why it cannot be done now. */
export function DecideChanges({
  id,
  changes,
  marked,
  again,
}: {
  readonly id: string;
  readonly changes: Changes;
  readonly marked: Signal<ReadonlySet<string>>;
  readonly again: () => void;
}) {
  const text = useSignal('');
  const squash = useSignal(false);
  const { message, busy, attempt } = useAction();
  const { files, merge, version, isWorking } = changes;
  const chosen = files.filter(({ path }) => marked.value.size === 0 || marked.value.has(path));
  const open = chosen.filter(({ isCommitted }) => !isCommitted);
  const params = { path: { id } };
  const paths = marked.value.size === 0 ? {} : { paths: chosen.map(({ path }) => path) };
  const decide = (action: () => Promise<string>): void =>
    void attempt(async () => {
      const done = await action();
      marked.value = new Set();
      text.value = '';
      again();
      return done;
    });
  const commit = async (): Promise<string> => {
    const body = { version, message: text.value, paths: open.map(({ path }) => path) };
    const done = await must(client.post('/api/sessions/{id}/changes/commit', { params, body }));
    return `Committed as ${done.commit.slice(0, 8)}.`;
  };
  const discard = async (): Promise<string> => {
    const body = { version, ...paths };
    const done = await must(client.post('/api/sessions/{id}/changes/discard', { params, body }));
    return `Discarded. A copy is kept: git checkout ${done.keptAs} -- <file>`;
  };
  const takeOver = async (): Promise<string> => {
    const body = { version, squash: squash.value };
    const done = await must(client.post('/api/sessions/{id}/changes/merge', { params, body }));
    return `Merged into ${done.into} as ${done.commit.slice(0, 8)}.`;
  };
  if (files.length === 0 && message === '') return <MergeState merge={merge} />;
  return (
    <div class="decisions">
      {files.length > 0 && (
        <>
          {open.length > 0 && (
            <form
              class="decide"
              onSubmit={(event) => {
                event.preventDefault();
                decide(commit);
              }}
            >
              <input
                type="text"
                aria-label="Message of the commit"
                placeholder="Message of the commit"
                maxLength={10_000}
                value={text.value}
                onInput={({ currentTarget }) => {
                  text.value = currentTarget.value;
                }}
              />
              <button type="submit" disabled={busy || isWorking || text.value.trim() === ''}>
                Commit {count(open.length)}
              </button>
            </form>
          )}
          <p class="decide">
            {merge?.state === 'ready' && (
              <>
                <button
                  type="button"
                  class="primary"
                  disabled={busy || isWorking}
                  onClick={() => decide(takeOver)}
                >
                  Merge into {merge.into}
                </button>
                <label class="inline">
                  <input
                    type="checkbox"
                    checked={squash.value}
                    onChange={({ currentTarget }) => {
                      squash.value = currentTarget.checked;
                    }}
                  />
                  as one commit
                </label>
              </>
            )}
            <button type="button" class="end" disabled={busy || isWorking} onClick={() => decide(discard)}>
              Discard {count(chosen.length)}
            </button>
          </p>
        </>
      )}
      <MergeState merge={merge} />
      {message !== '' && (
        <p class="small" role="status">
          {message}
        </p>
      )}
    </div>
  );
}

/** Why it cannot be merged. */
function MergeState({ merge }: Pick<Changes, 'merge'>) {
  if (merge?.state === 'merged') return <p class="soft small">{merge.into} has all of it.</p>;
  if (merge?.state === 'refused') return <p class="soft small">No merge yet: {merge.reason}</p>;
  return null;
}

const count = (n: number): string => (n === 1 ? '1 file' : `${n} files`);
