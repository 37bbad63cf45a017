import { readOnly } from '../../../page/base.js';
import { ask } from '../../../page/ask.js';
import { timeOfDay, withUtc } from '../../../page/clock.js';
import { useAction } from '../../../page/action.js';
import { LongList } from '../../../page/parts/long-list.js';
import { useLoaded } from '../live.js';
import { Panel } from '../../../page/parts/panel.js';
import { linkTo } from '../place.js';
import { readable } from './step.js';
import type { DeadLetters } from '../../answers.js';

/** Of all actors; where there are none it says so. */
export function DeadLettersPanel() {
  const loaded = useLoaded(
    'dead letters',
    (signal) => ask<DeadLetters>('/api/inspect/dead-letters?limit=50', { signal }),
    { everyMs: 5_000 },
  );
  const { value, error } = loaded.value;
  return (
    <Panel name="dead" title="Dead letters" about="events at which an actor failed" error={error}>
      {value?.deadLetters.length === 0 && <p class="empty">None.</p>}
      {value !== undefined && <Letters letters={value.deadLetters} named />}
    </Panel>
  );
}

/**
 * Events at which actors failed, each of which can be tried again. `named`: with the actor. One that fails again is
 * another row, at another time: what was said of the earlier try goes with it.
 */
export function Letters({
  letters,
  named = false,
}: {
  readonly letters: DeadLetters['deadLetters'];
  readonly named?: boolean;
}) {
  return (
    <LongList
      class="moves"
      items={letters}
      keyOf={({ id, at }) => `${id} ${at}`}
      heightPx={64}
      row={({ id, actor, at, event, error }, place) => (
        <li key={`${id} ${at}`} {...place}>
          {named && (
            <a href={linkTo({ view: 'actor', ...actor })}>
              <span class="kind-name">{actor.kind}</span> {actor.id}
            </a>
          )}
          <span class="event">{readable((event as { readonly type?: string } | null)?.type ?? 'event')}</span>
          <time class="soft end num" title={withUtc(at)}>
            {timeOfDay(at)}
          </time>
          <small class="bad">{error}</small>
          <Retry id={id} />
        </li>
      )}
    />
  );
}

/** Put it back into the mailbox of its actor. */
function Retry({ id }: { readonly id: string }) {
  const { message, busy, attempt } = useAction();
  const retry = async (): Promise<string> => {
    await ask(`/api/inspect/dead-letters/${encodeURIComponent(id)}/retry`, { post: {} });
    return 'It is back in the mailbox.';
  };
  if (readOnly !== undefined) return null;
  return (
    <>
      {message !== '' && (
        <span class="soft" role="status">
          {message}
        </span>
      )}
      <button type="button" disabled={busy || message !== ''} onClick={() => void attempt(retry)}>
        Try again
      </button>
    </>
  );
}
