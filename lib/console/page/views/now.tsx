import { connection } from '../../../page/connection.js';
import { minuteOf, whole, withUtc } from '../../../page/clock.js';
import { Health } from '../now/health.js';
import { Stuck, useStuck } from '../now/stuck.js';
import { useWorking, Working } from '../now/working.js';
import { Age, Decision, placeOf, whatOf } from '../parts/decision.js';
import { FirstRun } from '../parts/first-run.js';
import { Subject } from '../parts/subject.js';
import { linkTo } from '../place.js';
import { happenings } from '../seen.js';
import { waiting, waitingCount, waitingError, waitingForYou, waitingMore } from '../waiting.js';

/** The first view: does anything need me, is anything stuck, what runs, what happened since my last visit. */
export function NowPage() {
  const working = useWorking();
  const stuck = useStuck();
  const isNew =
    waiting.value !== undefined &&
    waitingCount.value === 0 &&
    working.list?.total === 0 &&
    stuck.list?.total === 0;
  return (
    <div class="view now">
      <div class="heading">
        <h1>Now</h1>
        <p class="soft">
          {waiting.value === undefined || stuck.list === undefined || working.list === undefined
            ? 'Loading …'
            : sentence(waitingCount.value, stuck.list.total, working.list.total)}
        </p>
      </div>
      {isNew && <FirstRun />}
      <div class="columns">
        <div class="stack">
          <Needs />
          <Stuck {...stuck} />
          <Working {...working} />
        </div>
        <div class="stack">
          <Since />
          <Health />
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

function Needs() {
  const list = waitingForYou.value;
  const others = (waiting.value?.length ?? 0) - (list?.length ?? 0);
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
      {others > 0 && (
        <p class="soft small" data-others>
          {others === 1 ? 'One thing waits' : `${whole(others)} things wait`} for employees, who decide:{' '}
          <a href={linkTo({ view: 'inbox' })}>see in the inbox</a>.
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
                  {minuteOf(one.at)}
                </time>
              </a>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
