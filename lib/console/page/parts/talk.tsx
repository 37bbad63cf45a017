import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useAction } from '../../../page/action.js';
import { now, whole } from '../../../page/clock.js';
import { Conversation } from '../conversation.js';
import { unsaid } from '../speech.js';
import { runningTool } from '../../../client/decision.js';
import { client, must } from '../../../page/gateway.js';
import { named, useLoaded } from '../live.js';
import { go, inspectorLink, linkTo } from '../place.js';
import { moodOf, quietLine, titleOf, type Session } from '../session.js';
import { waiting } from '../waiting.js';
import { Children } from './children.js';
import { Composer } from './composer.js';
import { Decision } from './decision.js';
import { Markdown } from './markdown.js';
import { MessageRow } from './message.js';
import { Queue } from './queue.js';
import { Subject } from './subject.js';
import { ToolCard } from './tool-card.js';
import { Fault } from './answered.js';

/** A session as it is talked with: what was said, what is said now, what it asks, and the next message. */
export function Talk({ id }: { readonly id: string }) {
  const talk = useMemo(() => new Conversation(id), [id]);
  useEffect(() => talk.follow(), [talk]);
  const interrupts = useLoaded('interrupts', readInterrupts, { touches: named(/^config:/) }).value.value;
  const session = talk.session.value;
  if (session === undefined)
    return (
      <section class="talk" aria-busy={talk.error.value === undefined}>
        <h1 class="unseen">Session</h1>
        <p class={talk.error.value === undefined ? 'soft' : 'bad'}>{talk.error.value ?? 'Loading …'}</p>
      </section>
    );
  const send = async (message: string, attachments: readonly string[]): Promise<void> => {
    await must(
      client.post('/api/sessions/{id}/message', {
        params: { path: { id } },
        body: { message, ...(attachments.length > 0 && { attachments: [...attachments] }) },
      }),
    );
  };
  return (
    <section class="talk" aria-labelledby="chat-title">
      <Head session={session} />
      <Transcript talk={talk} session={session} />
      <Queue session={session} talk={talk} />
      <Composer
        name={id}
        placeholder={`Message ${session.employee ?? session.engine}`}
        send={send}
        busyWord={
          moodOf(session).word === 'queued' || session.status !== 'running' ? undefined : busyWord(interrupts)
        }
      />
    </section>
  );
}

const busyWord = (interrupts: boolean | undefined): string =>
  interrupts === undefined
    ? 'It is working.'
    : `It is working: your message ${interrupts ? 'interrupts it' : 'is read next'}.`;

/** What a message does to a turn that runs; unknown where a host keeps no settings. */
async function readInterrupts(): Promise<boolean | undefined> {
  const config = await must(client.get('/api/config')).catch(() => undefined);
  const { interruptOnNewMessage } = (config?.['sessions'] ?? {}) as Readonly<Record<string, unknown>>;
  return typeof interruptOnNewMessage === 'boolean' ? interruptOnNewMessage : undefined;
}

function Head({ session }: { readonly session: Session }) {
  const { message, busy, attempt } = useAction();
  const { id } = session;
  const mood = moodOf(session);
  const stop = async (): Promise<void> => {
    await must(client.post('/api/sessions/{id}/stop', { params: { path: { id } }, body: {} }));
  };
  const duplicate = async (): Promise<void> => {
    const copy = await must(
      client.post('/api/sessions/{id}/duplicate', { params: { path: { id } }, body: {} }),
    );
    go({ view: 'chat', id: copy.id });
  };
  return (
    <header class="talk-head">
      <a class="back quiet" href={linkTo({ view: 'chat' })} aria-label="All sessions">
        ‹
      </a>
      <div class="about">
        <h1 id="chat-title" class="clip">
          {titleOf(session)}
        </h1>
        <p class="soft small">
          <b class={`state ${mood.tone}`} data-mood={mood.word}>
            {mood.word}
          </b>
          <span>{session.employee ?? session.engine}</span>
          <span>{session.model ?? session.engine}</span>
          <span class="num">{turns(session.totalTurns)}</span>
          {session.totalCost > 0 && <span class="num">${session.totalCost.toFixed(2)}</span>}
          {session.lastContextTokens != null && (
            <Context tokens={session.lastContextTokens} window={session.contextWindow ?? 0} />
          )}
          {session.workItemId !== null && (
            <a href={linkTo({ view: 'item', id: session.workItemId })}>{session.workItemId}</a>
          )}
        </p>
      </div>
      <p class="ways">
        {session.status === 'running' && (
          <button type="button" disabled={busy} onClick={() => void attempt(stop)}>
            Stop
          </button>
        )}
        <button type="button" class="quiet" disabled={busy} onClick={() => void attempt(duplicate)}>
          Duplicate
        </button>
        <a class="quiet" href={linkTo({ view: 'changes', id })}>
          Changes
        </a>
        <a class="quiet" href={inspectorLink('session', id)}>
          Inspect
        </a>
      </p>
      <Fault message={message} />
      <Children id={id} />
    </header>
  );
}

/** How full its context is, where the engine says how much fits. */
const Context = ({ tokens, window }: { readonly tokens: number; readonly window: number }) =>
  window > 0 ? (
    <span class="num" title={`${whole(tokens)} tokens of the ${whole(window)} that its context holds`}>
      {whole(tokens)} tokens, {Math.min(100, Math.round((tokens / window) * 100))} % of its context
    </span>
  ) : (
    <span class="num" title="Tokens of context that the last turn read">
      {whole(tokens)} tokens
    </span>
  );

/** What is decided where one talks, under which heading. */
const headings: ReadonlyMap<string, string> = new Map([
  ['permission', 'It asks for your permission'],
  ['resume', 'Its turn was interrupted'],
  ['silent', 'Nothing has come from it for a while'],
]);

const turns = (count: number): string => (count === 1 ? '1 turn' : `${whole(count)} turns`);

function Transcript({ talk, session }: { readonly talk: Conversation; readonly session: Session }) {
  const box = useRef<HTMLDivElement>(null);
  const pinned = useSignal(true);
  const messages = talk.messages.value;
  const speech = talk.speech.value;
  const saying = unsaid(speech, messages);
  const agent = session.employee ?? session.engine;
  const asked = waiting.value?.filter(
    ({ kind, id, what }) => kind === 'session' && id === session.id && headings.has(what),
  );
  // Where one reads further up nothing moves: neither by what is said now nor by what comes before
  const before = useRef({ first: messages[0]?.id, height: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const isPrepended = before.current.first !== messages[0]?.id && before.current.height > 0;
    if (pinned.value) element.scrollTop = element.scrollHeight;
    else if (isPrepended) element.scrollTop += element.scrollHeight - before.current.height;
    before.current = { first: messages[0]?.id, height: element.scrollHeight };
  });
  const scrolled = (): void => {
    const element = box.current;
    if (element === null) return;
    pinned.value = element.scrollHeight - element.scrollTop - element.clientHeight < 48;
    if (element.scrollTop < 600) void talk.older();
  };
  // What is kept already is shown from there
  const kept = new Set(messages.map(({ toolId }) => toolId));
  const tools = speech.tools.filter((use) => !kept.has(use.id));
  const last = messages.at(-1);
  const isStored = speech.messageId !== undefined && last?.id === speech.messageId && last.partial !== true;
  const heardAt = speech.at ?? Date.parse(session.silentSince ?? session.lastActivity);
  const quiet = quietLine(session, now.value - heardAt, now.value, runningTool(messages));
  return (
    <div
      class="transcript"
      ref={box}
      onScroll={scrolled}
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Conversation"
    >
      {talk.error.value !== undefined && (
        <p class="bad small" role="alert">
          {talk.error.value}
        </p>
      )}
      {talk.hasOlder.value && (
        <p class="soft small older">{talk.reaching.value ? 'Loading …' : 'Scroll up for what came before'}</p>
      )}
      <ol class="messages">
        {messages
          .filter(({ id, partial }) => !(partial === true && id === speech.messageId))
          .map((message) => (
            <MessageRow key={message.id} message={message} agent={agent} />
          ))}
        {!isStored && (saying !== '' || tools.length > 0) && (
          <li class="message assistant live" data-live>
            <p class="by">
              <b>{agent}</b>
              <span class="soft small">now</span>
            </p>
            {tools.map((use) => (
              <ToolCard key={use.id} use={use} />
            ))}
            {saying !== '' && <Markdown text={saying} />}
          </li>
        )}
      </ol>
      {asked?.map((thing) => (
        <section key={thing.waitingId} class="asks" aria-label={headings.get(thing.what)}>
          <h2>{thing.what === 'permission' ? `It asks to use ${thing.title}` : headings.get(thing.what)}</h2>
          {thing.what === 'permission' && <Subject thing={thing} brief />}
          <Decision thing={thing} />
        </section>
      ))}
      {session.status === 'running' && quiet === undefined && saying === '' && (
        <p class="soft small working">
          <i class="lamp running" aria-hidden="true" /> Working …
        </p>
      )}
      {quiet !== undefined && asked?.some(({ what }) => what === 'permission') !== true && (
        <p class={`quiet-line small ${session.status}`}>{quiet}</p>
      )}
      {!pinned.value && (
        <button
          type="button"
          class="latest"
          onClick={() => {
            pinned.value = true;
            box.current?.scrollTo({ top: box.current.scrollHeight });
          }}
        >
          ↓ Latest
        </button>
      )}
    </div>
  );
}
