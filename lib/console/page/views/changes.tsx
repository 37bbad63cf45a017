import { useComputed, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useAction } from '../../../page/action.js';
import { load } from '../../../page/ask.js';
import { now, span, withUtc } from '../../../page/clock.js';
import { client, must } from '../../../page/gateway.js';
import { Answered } from '../parts/answered.js';
import { ChangedFiles } from '../parts/changed-files.js';
import { DecideChanges } from '../parts/decide-changes.js';
import { PatchOnDemand } from '../parts/patch-on-demand.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { titleOf, type Changes, type Session } from '../session.js';

/** What a session has changed in its folder, and what becomes of that: commit, discard, merge. */
export function ChangesPage({ id }: { readonly id: string }) {
  const round = useSignal(0);
  const last = useRef<Read | undefined>(undefined);
  // Only where a turn has begun or ended: git is asked some thirty things each time
  const loaded = useLoaded(
    `changes/${id}/${round.value}`,
    async (signal) => (last.current = await read(id, signal)),
    {
      touches: ({ frames }) =>
        frames.some(({ event, payload }) => payload['sessionId'] === id && beginOrEnd.test(event)),
      everyMs: 60_000,
    },
  );
  // What was decided is read again under another name: until then one goes on seeing what was
  const shown = useComputed(() => ({ ...loaded.value, value: loaded.value.value ?? last.current }));
  return (
    <div class="view changes">
      <Answered loaded={shown}>
        {({ session, changes }) => (
          <>
            <header>
              <h1>Changes</h1>
              <p class="soft">
                <a href={linkTo({ view: 'chat', id })}>{titleOf(session)}</a> <Where changes={changes} />
              </p>
            </header>
            {changes.isWorking && (
              <p class="notice" role="status">
                Its agent is at work: this is how the folder stands now. Decide when the turn has ended.
              </p>
            )}
            <Conflicts id={id} changes={changes} />
            {changes.kind === 'none' ? (
              <p class="panel empty">
                The folder of this session is in no git repository, so nothing is known of what was before.
                Sessions with a worktree have a branch of their own.
              </p>
            ) : (
              <ChangedFilesAndDecisions
                id={id}
                changes={changes}
                again={() => {
                  round.value += 1;
                }}
              />
            )}
            <Commits changes={changes} />
            <Turns changes={changes} />
          </>
        )}
      </Answered>
    </div>
  );
}

const beginOrEnd = /^session:(?:started|completed|stopped|interrupted|resumed)/;

interface Read {
  readonly session: Session;
  readonly changes: Changes;
}

async function read(id: string, signal: AbortSignal): Promise<Read> {
  const at = { params: { path: { id }, query: { messages: '0' as const } }, signal };
  const [session, changes] = await Promise.all([
    must(client.get('/api/sessions/{id}', at)) as Promise<Session>,
    must(client.get('/api/sessions/{id}/changes', { params: { path: { id } }, signal })),
  ]);
  return { session, changes };
}

function Where({ changes: { kind, branch, base, merge, folder } }: { readonly changes: Changes }) {
  if (kind === 'none') return null;
  return (
    <>
      · <code>{branch ?? 'no branch'}</code>
      {merge?.into != null && (
        <>
          {' '}
          against <code>{merge.into}</code> of <code>{merge.repository}</code>
        </>
      )}
      {kind === 'folder' && (
        <>
          {' '}
          in <code>{folder}</code>,{' '}
          {base === null ? 'where nothing is committed yet' : 'against the last commit'}
        </>
      )}
    </>
  );
}

function ChangedFilesAndDecisions({
  id,
  changes,
  again,
}: {
  readonly id: string;
  readonly changes: Changes;
  readonly again: () => void;
}) {
  const marked = useSignal<ReadonlySet<string>>(new Set());
  return (
    <>
      <section class="panel" aria-labelledby="files-title">
        <h2 id="files-title">
          Files <span class="soft num">{changes.files.length}</span>
        </h2>
        <DecideChanges id={id} changes={changes} marked={marked} again={again} />
        <ChangedFiles id={id} changes={changes} marked={marked} />
      </section>
    </>
  );
}

/** What both sides have changed, and a word to the agent that it puts that right. */
function Conflicts({ id, changes: { merge, branch } }: { readonly id: string; readonly changes: Changes }) {
  const { message: outcome, busy, attempt } = useAction();
  if (merge?.state !== 'conflicts') return null;
  const resolve = async (): Promise<string> => {
    const { into, conflicts } = merge;
    const files = conflicts.map(({ path }) => path).join(', ');
    const message =
      `Your branch ${branch ?? ''} conflicts with ${into ?? ''} in: ${files}. Merge ${into ?? ''} into your ` +
      `branch (in a clone: git fetch origin, then git merge origin/${into ?? ''}), resolve the conflicts, and ` +
      'say what you chose.';
    await must(client.post('/api/sessions/{id}/message', { params: { path: { id } }, body: { message } }));
    return 'Asked. It is at work on it.';
  };
  return (
    <section class="panel" aria-labelledby="conflicts-title">
      <h2 id="conflicts-title">
        Conflicts with {merge.into} <span class="soft num">{merge.conflicts.length}</span>
      </h2>
      <p class="soft small">Both sides have changed these lines. Your folder was not touched.</p>
      {merge.conflicts.map(({ path, text }) => (
        <div key={path}>
          <h3 class="mono">{path}</h3>
          {text === '' ? (
            <p class="soft small">One side has removed it, or it is no text.</p>
          ) : (
            <pre tabIndex={0} role="group" aria-label={`Conflicts in ${path}`}>
              {text}
            </pre>
          )}
        </div>
      ))}
      <p class="ways">
        <button type="button" disabled={busy} onClick={() => void attempt(resolve)}>
          Ask its agent to resolve them
        </button>
        <span class="small" role="status">
          {outcome}
        </span>
      </p>
    </section>
  );
}

function Commits({ changes: { commits } }: { readonly changes: Changes }) {
  if (commits.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="commits-title">
      <h2 id="commits-title">
        Commits <span class="soft num">{commits.length}</span>
      </h2>
      <ul class="rows">
        {commits.map(({ commit, subject, author, at }) => (
          <li key={commit}>
            <code>{commit.slice(0, 8)}</code>
            <span class="title clip">{subject}</span>
            <span class="soft small end">{author}</span>
            <time class="soft num small" title={withUtc(Date.parse(at))}>
              {span(now.value - Date.parse(at))}
            </time>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What each turn changed, as it was recorded when it ended. */
function Turns({ changes: { turns } }: { readonly changes: Changes }) {
  if (turns.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="turns-title">
      <h2 id="turns-title">
        By turn <span class="soft">the latest first</span>
      </h2>
      <ul class="files">
        {turns.map(({ turnId, at, files, stat, patchUrl }) => (
          <li key={turnId}>
            <PatchOnDemand
              label={`${files.length} file${files.length === 1 ? '' : 's'}: ${files.join(', ')}`}
              read={async (signal) => (patchUrl === null ? stat : (await load(patchUrl, signal)).text())}
            >
              <span class="clip mono">{files.join(', ')}</span>
              <time class="soft num small end" title={withUtc(Date.parse(at))}>
                {span(now.value - Date.parse(at))}
              </time>
            </PatchOnDemand>
          </li>
        ))}
      </ul>
    </section>
  );
}
