import { ask } from '../../../page/ask.js';
import { connection } from '../../../page/connection.js';
import { now, span, timeOfDay, whole, withUtc } from '../../../page/clock.js';
import type { ActorsPage, ActorSummary } from '../../../inspector/answers.js';
import { named, useLoaded, type Batch } from '../live.js';
import { Age, Decision, placeOf, whatOf } from '../parts/decision.js';
import { FirstRun } from '../parts/first-run.js';
import { Subject } from '../parts/subject.js';
import { inspectorLink, linkTo } from '../place.js';
import { happenings } from '../seen.js';
import { waiting, waitingCount, waitingError, waitingMore } from '../waiting.js';

/** The first view: does anything need me, is anything stuck, what runs, what happened since my last visit. */
export function NowPage() {
  const working = useStates([
    ['session', 'running'],
    ['workflow-run', 'running'],
  ]);
  const stuck = useStates([
    ['session', 'resting.error'],
    ['session', 'resting.interrupted'],
    ['work-item', 'work.blocked'],
  ]);
  const isNew =
    waiting.value !== undefined &&
    waitingCount.value === 0 &&
    working.list?.length === 0 &&
    stuck.list?.length === 0 &&
    stuck.total === 0;
  return (
    <div class="view now">
      <div class="heading">
        <h1>Now</h1>
        <p class="soft">
          {waiting.value === undefined || stuck.list === undefined || working.list === undefined
            ? 'Loading …'
            : sentence(waitingCount.value, stuck.list.length, working.list.length)}
        </p>
      </div>
      {isNew && <FirstRun />}
      <div class="columns">
        <div class="stack">
          <Needs />
          <Stuck list={stuck.list} error={stuck.error} />
          <Working list={working.list} error={working.error} />
        </div>
        <div class="stack">
          <Since />
        </div>
      </div>
    </div>
  );
}

const sentence = (needs: number, stuck: number, working: number): string =>
  [
    needs === 0 ? 'Nothing needs you' : `${whole(needs)} ${needs === 1 ? 'thing needs' : 'things need'} you`,
    stuck === 0 ? 'nothing is stuck' : `${whole(stuck)} stuck`,
    working === 0 ? 'nothing runs' : `${whole(working)} at work`,
  ].join(', ') + '.';

interface StateList {
  readonly list: readonly ActorSummary[] | undefined;
  readonly error: string | undefined;
  readonly total: number;
}

/** Those who stand in any of these states, longest in it first: `[['session', 'running']]`. */
function useStates(states: readonly (readonly [kind: string, state: string])[]): StateList {
  const loaded = useLoaded(
    states.join(),
    async (signal) => {
      const pages = await Promise.all(
        states.map(([kind, state]) => {
          const query = new URLSearchParams({ kind, state, limit: '30' });
          return ask<ActorsPage>(`/api/inspect/actors?${query}`, { signal });
        }),
      );
      return pages.flatMap(({ actors }) => actors).sort((one, other) => one.since - other.since);
    },
    { touches: changesStates },
  );
  const { value, error } = loaded.value;
  return { list: value, error, total: value?.length ?? 0 };
}

const changesStates = (batch: Batch): boolean => named(/^(?:session|sessions|company|run):/)(batch);

function Needs() {
  const list = waiting.value;
  return (
    <section class="panel needs" aria-labelledby="needs-title">
      <h2 id="needs-title">
        Needs you
        {list !== undefined && list.length > 0 && (
          <span class="soft num">
            {list.length}
            {waitingMore.value && '+'}
          </span>
        )}
        {list !== undefined && list.length > 0 && (
          <a class="quiet" href={linkTo({ view: 'inbox' })}>
            Open inbox
          </a>
        )}
      </h2>
      {waitingError.value !== undefined && (
        <p class="bad small" role="alert">
          {waitingError.value}
        </p>
      )}
      {list === undefined ? (
        waitingError.value === undefined && <p class="soft">Loading …</p>
      ) : list.length === 0 ? (
        <p class="empty">Nothing waits for you. What does will be here, and in the inbox.</p>
      ) : (
        <ul class="things">
          {list.slice(0, 6).map((thing) => (
            <li key={`${thing.kind}/${thing.id}/${thing.waitingId}`}>
              <p class="line">
                <span class="what">{whatOf(thing)}</span>
                <a class="title" href={placeOf(thing)}>
                  {thing.title}
                </a>
                <Age thing={thing} />
              </p>
              {thing.what === 'activation' && <Subject thing={thing} brief />}
              <Decision thing={thing} />
            </li>
          ))}
          {list.length > 6 && (
            <li>
              <a href={linkTo({ view: 'inbox' })}>{whole(list.length - 6)} more in the inbox</a>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}

const linkOf = ({ kind, id }: ActorSummary): string =>
  kind === 'session'
    ? linkTo({ view: 'chat', id })
    : kind === 'work-item'
      ? linkTo({ view: 'item', id })
      : inspectorLink(kind, id);

function stuckWord({ kind, value }: ActorSummary): string {
  if (kind === 'work-item') return 'blocked';
  return JSON.stringify(value).includes('interrupted') ? 'interrupted' : 'failed';
}

function Stuck({ list, error }: { readonly list: StateList['list']; readonly error: string | undefined }) {
  return (
    <section class="panel" aria-labelledby="stuck-title">
      <h2 id="stuck-title">
        Stuck {list !== undefined && list.length > 0 && <span class="soft num">{list.length}</span>}
      </h2>
      {error !== undefined && <p class="bad small">{error}</p>}
      {list?.length === 0 && <p class="empty">Nothing is blocked, has failed or was cut off.</p>}
      <ul class="rows">
        {list?.slice(0, 12).map((actor) => (
          <li key={`${actor.kind}/${actor.id}`}>
            <a href={linkOf(actor)}>
              <b class="state bad">{stuckWord(actor)}</b>
              <span class="title clip">{actor.title ?? actor.id}</span>
              <span class="soft num end">for {span(now.value - actor.since)}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Working({ list, error }: { readonly list: StateList['list']; readonly error: string | undefined }) {
  return (
    <section class="panel" aria-labelledby="working-title">
      <h2 id="working-title">
        At work {list !== undefined && list.length > 0 && <span class="soft num">{list.length}</span>}
      </h2>
      {error !== undefined && <p class="bad small">{error}</p>}
      {list?.length === 0 && (
        <p class="empty">
          Nothing runs right now. <a href={linkTo({ view: 'chat' })}>Talk to an agent</a> or take something
          from the <a href={linkTo({ view: 'board' })}>board</a>.
        </p>
      )}
      <ul class="rows">
        {list?.slice(0, 12).map((actor) => (
          <li key={`${actor.kind}/${actor.id}`}>
            <a href={linkOf(actor)}>
              <i class="lamp running" aria-hidden="true" />
              <span class="title clip">{actor.title ?? actor.id}</span>
              <span class="soft num end">{span(now.value - actor.since)}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Since() {
  const list = happenings.value;
  return (
    <section class="panel since" aria-labelledby="since-title">
      <h2 id="since-title">Since your last visit</h2>
      {list.length === 0 ? (
        <p class="empty">
          {connection.value === 'live' ? 'Nothing happened. New events appear here.' : 'Loading …'}
        </p>
      ) : (
        <ol class="rows small">
          {list.slice(0, 30).map((one, n) => (
            <li key={`${one.seq}/${n}`}>
              <a href={one.href}>
                <i class={`lamp ${one.tone}`} aria-hidden="true" />
                <span class="two-lines">{one.text}</span>
                <time class="soft num end" title={withUtc(one.at)}>
                  {timeOfDay(one.at).slice(0, 5)}
                </time>
              </a>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
