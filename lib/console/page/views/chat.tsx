import { useSignal } from '@preact/signals';
import { ask } from '../../../page/ask.js';
import { now, span } from '../../../page/clock.js';
import { LongList, type RowPlace } from '../../../page/parts/long-list.js';
import { Talk } from '../parts/talk.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { NewSession } from '../parts/new-session.js';
import { go, linkTo } from '../place.js';
import { moodOf, titleOf, type Session } from '../session.js';

/** Conversations at the side, the one that is open beside them. */
export function ChatPage({ id, q }: { readonly id: string | undefined; readonly q: string | undefined }) {
  return (
    <div class={`chat${id === undefined ? '' : ' open'}`}>
      <Sessions current={id} q={q} />
      {id === undefined ? (
        <section class="talk new" aria-labelledby="chat-title">
          <h1 id="chat-title">Talk to an agent</h1>
          <p class="soft">
            Say what you want. It opens a session of its own, which goes on when you leave this page.
          </p>
          <NewSession />
        </section>
      ) : (
        <Talk key={id} id={id} />
      )}
    </div>
  );
}

/** Sessions by their last activity; found by a search in the address. */
function Sessions({ current, q }: { readonly current: string | undefined; readonly q: string | undefined }) {
  const wanted = useSignal(q ?? '');
  const loaded = useLoaded(`sessions?${wanted.value}`, (signal) => read(wanted.value, signal), {
    touches: named(/^session:(?!delta|notification)/),
  });
  const { value, error } = loaded.value;
  return (
    <nav class="sessions" aria-label="Sessions">
      <div class="search">
        <input
          type="search"
          aria-label="Find a session"
          placeholder="Find a session"
          value={wanted.value}
          onInput={(event) => {
            wanted.value = event.currentTarget.value;
            if (current === undefined)
              go({ view: 'chat', ...(wanted.value !== '' && { q: wanted.value }) }, { replace: true });
          }}
        />
        <a class="button" href={linkTo({ view: 'chat' })} title="New session">
          New
        </a>
      </div>
      {error !== undefined && (
        <p class="bad small" role="alert">
          {error}
        </p>
      )}
      {value !== undefined && value.length === 0 && (
        <p class="empty small">
          {wanted.value === ''
            ? 'No sessions yet. Write the first message.'
            : 'No session has this in its title, prompt, employee or id.'}
        </p>
      )}
      {value !== undefined && (
        <LongList
          items={value}
          keyOf={({ id }) => id}
          heightPx={56}
          row={(session, at) => (
            <SessionLine key={session.id} session={session} current={session.id === current} at={at} />
          )}
        />
      )}
    </nav>
  );
}

async function read(q: string, signal: AbortSignal): Promise<readonly Session[]> {
  const found =
    q === ''
      ? (await ask<{ sessions: Session[] }>('/api/sessions', { signal })).sessions
      : ((await must(client.get('/api/sessions', { params: { query: { q } }, signal }))) as Session[]);
  return [...found].sort((one, other) => Date.parse(other.lastActivity) - Date.parse(one.lastActivity));
}

function SessionLine({
  session,
  current,
  at,
}: {
  readonly session: Session;
  readonly current: boolean;
  readonly at: RowPlace;
}) {
  const mood = moodOf(session);
  return (
    <li {...at}>
      <a
        href={linkTo({ view: 'chat', id: session.id })}
        aria-current={current ? 'page' : undefined}
        data-session={session.id}
      >
        <span class="title clip">{titleOf(session)}</span>
        <span class="age num soft">{span(now.value - Date.parse(session.lastActivity))}</span>
        <span class="who soft clip">{session.employee ?? session.engine}</span>
        <b class={`state ${mood.tone}`}>{mood.word}</b>
      </a>
    </li>
  );
}
