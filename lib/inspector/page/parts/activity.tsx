import { timeOfDay, withUtc } from '../../../page/clock.js';
import { Panel } from '../../../page/parts/panel.js';
import { linkTo } from '../place.js';
import { follow, following, recent, refused } from '../pulse.js';
import { Step } from './step.js';

/** The last things that happened anywhere, newest first. It can be stopped, to be read. */
export function Activity() {
  const entries = [...recent.value].reverse();
  return (
    <Panel
      name="activity"
      title="Recent events"
      end={
        <button
          type="button"
          class="quiet"
          aria-pressed={!following.value}
          onClick={() => follow(!following.value)}
        >
          {following.value ? 'Pause' : 'Go on'}
        </button>
      }
      class="activity"
    >
      {entries.length === 0 ? (
        <p class="empty">Nothing since this page was opened. New events appear here.</p>
      ) : (
        <ol class="steps" aria-label="Newest first">
          {entries.map((entry) => (
            <li key={entry.seq} data-seq={entry.seq}>
              <a
                href={linkTo({ view: 'actor', kind: entry.kind, id: entry.id })}
                title={`${entry.kind} ${entry.id}`}
              >
                <Step entry={entry} />
                <small>
                  <span class="kind-name">{entry.kind}</span> <span class="clip">{entry.id}</span>{' '}
                  <time title={withUtc(entry.at)}>{timeOfDay(entry.at)}</time>
                </small>
              </a>
            </li>
          ))}
        </ol>
      )}
      {refused.value.length > 0 && (
        <>
          <h3>Events that were refused</h3>
          <ol class="steps" aria-label="Refused, newest first">
            {[...refused.value].reverse().map((one, n) => (
              <li key={`${one.at}-${n}`}>
                <a href={linkTo({ view: 'actor', kind: one.kind, id: one.id })}>
                  <span class="event">{one.event.type}</span> <b class="state bad">{one.refusal.code}</b>
                  <small>{one.refusal.message}</small>
                </a>
              </li>
            ))}
          </ol>
        </>
      )}
    </Panel>
  );
}
