import { useRef } from 'preact/hooks';
import { readOnly } from '../../../page/base.js';
import { actorPath, ask } from '../../../page/ask.js';
import { timeOfDay, withUtc } from '../../../page/clock.js';
import { report, useAction } from '../../../page/action.js';
import { useKeptRows } from '../../../page/parts/use-kept-rows.js';
import { LongList } from '../../../page/parts/long-list.js';
import { Panel } from '../../../page/parts/panel.js';
import { linkTo } from '../place.js';
import { keyOfLetter } from '../problems.js';
import { deadLetters, stuck, stuckError } from '../stuck.js';
import { HeldButton, isHolding } from './held-button.js';
import { Fault, OutcomeLine } from './outcome-line.js';
import { readable } from './step.js';
import { AsThrown, plainly } from './cause.js';
import type { ActorDetail, DeadLetters } from '../../answers.js';
import type { ActorKey } from '../../../../machines/outputs.js';

/** Of all actors; where there are none it says so. */
export const DeadLettersPanel = () => (
  <Panel
    name="dead"
    title="Dead letters"
    about="events at which an actor failed: try them again once that is repaired"
    error={stuckError.value}
  >
    {stuck.value?.deadLetters.length === 0 && <p class="empty">None.</p>}
    {stuck.value !== undefined && <Letters letters={deadLetters.value} named />}
  </Panel>
);

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
  const box = useRef<HTMLDivElement>(null);
  const rows = useKeptRows(letters, keyOfLetter, { box });
  return (
    <div ref={box}>
      <LongList
        class="moves"
        items={rows}
        keyOf={({ key }) => key}
        heightPx={64}
        row={({ key, item: { id, actor, at, event, error }, isGone }, place) => (
          <li key={key} class={isGone ? 'gone' : ''} {...place}>
            {named && (
              <a href={linkTo({ view: 'actor', ...actor })}>
                <span class="kind-name">{actor.kind}</span> {actor.id}
              </a>
            )}
            <span class="event">
              {readable((event as { readonly type?: string } | null)?.type ?? 'event')}
            </span>
            <time class="soft end num" title={withUtc(at)}>
              {timeOfDay(at)}
            </time>
            <small class="bad">
              {plainly(error)}
              <AsThrown thrown={error} />
            </small>
            {isGone ? (
              <OutcomeLine of={key} otherwise="Another has dealt with it." isPast />
            ) : (
              <LetterActions id={id} actor={actor} of={key} />
            )}
          </li>
        )}
      />
    </div>
  );
}

/** Put it back into the mailbox of its actor, or drop it for good, which can be undone for five seconds. */
export function LetterActions({
  id,
  actor,
  of,
}: {
  readonly id: string;
  readonly actor: ActorKey;
  readonly of: string;
}) {
  const { message, busy, attempt } = useAction();
  if (readOnly !== undefined) return null;
  const path = `/api/inspect/dead-letters/${encodeURIComponent(id)}`;
  const retry = async (): Promise<void> => {
    const before = new Set(deadLetters.value.map((letter) => letter.id));
    await ask(`${path}/retry`, { post: {} });
    report(of, 'It is back in the mailbox.');
    void reportRetry(of, actor, before);
  };
  return (
    <span class="decide">
      <button type="button" disabled={busy || isHolding(of)} onClick={() => void attempt(retry)}>
        Try again
      </button>
      <HeldButton
        of={of}
        word="Dismiss"
        action={async () => {
          await ask(path, { method: 'delete', post: {}, keepalive: true });
          report(of, 'Dismissed: its event is dropped.');
        }}
        disabled={busy}
        quiet
      />
      {message === '' ? (
        <OutcomeLine of={of} otherwise="Try again: at once, without undo." />
      ) : (
        <Fault message={message} />
      )}
    </span>
  );
}

/**
 * It was handled, or it is a dead letter again: another one, of the same actor, which then says that it was tried. An
 * actor that rests after a failure takes it up only then.
 */
async function reportRetry(of: string, actor: ActorKey, before: ReadonlySet<string>): Promise<void> {
  for (let checks = 0; checks < checksMax; checks += 1) {
    const { inbox } = await ask<ActorDetail>(actorPath(actor));
    const { deadLetters: letters } = await ask<DeadLetters>('/api/inspect/dead-letters?limit=50');
    const again = letters.find(
      (one) => !before.has(one.id) && one.actor.kind === actor.kind && one.actor.id === actor.id,
    );
    if (again !== undefined) {
      report(keyOfLetter(again), 'Tried again: it failed again.', true);
      return report(of, `It failed again: ${plainly(again.error)}`, true);
    }
    if (inbox === 0) return report(of, 'Tried again: it was handled.');
    if (checks === 4) report(of, 'It is in the mailbox: its actor rests after a failure.');
    await new Promise((resolve) => setTimeout(resolve, checks < 20 ? 500 : 3_000));
  }
  report(of, 'It is still in the mailbox of its actor.');
}

/** About ten minutes: longer than any actor rests. */
const checksMax = 200;
