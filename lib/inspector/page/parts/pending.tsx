import { ask } from '../../../page/ask.js';
import { countdown, now, timeOfDay, withUtc } from '../../../page/clock.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import { Letters } from './letters.js';
import { readable } from './step.js';
import { Panel } from '../../../page/parts/panel.js';
import { State } from '../../../page/parts/state.js';
import type { ActorDetail, DeadLetters } from '../../answers.js';
import type { ActorKey } from '../../../../machines/outputs.js';

/** What runs for an actor now and which deadlines will move it. */
export function Pending({ detail: { timers, calls, inbox, failures } }: { readonly detail: ActorDetail }) {
  return (
    <Panel name="pending" title="Under way">
      {timers.length + calls.length + inbox + failures.length === 0 && (
        <p class="empty">No effect in flight, no timer, nothing in its inbox.</p>
      )}
      <ul class="facts">
        {calls.map(({ id, src, running }) => (
          <li key={id}>
            <span class="lamp busy" aria-hidden="true" />
            <b>{src}</b> <span class="soft">{running ? 'in flight' : 'held'}</span>
          </li>
        ))}
        {timers.map(({ name, event, due }) => (
          <li key={`${event}${due}`}>
            <span class="lamp wait" aria-hidden="true" />
            <b>{name}</b> <span class="soft">{event === name ? '' : readable(event)}</span>
            <span class="num end" title={withUtc(due)}>
              {due > now.value ? `in ${countdown(due - now.value)}` : 'due'}
            </span>
          </li>
        ))}
        {inbox > 0 && (
          <li>
            <span class="lamp wait" aria-hidden="true" />
            <b>{inbox}</b> <span class="soft">waiting in its inbox</span>
          </li>
        )}
        {failures.length > 0 && (
          <li>
            <span class="lamp bad" aria-hidden="true" />
            <b>{failures.length}</b>{' '}
            <span class="soft">
              {failures.length === 1 ? 'recent failure, at' : 'recent failures, the last at'}{' '}
              {timeOfDay(failures.at(-1) ?? 0)}
            </span>
          </li>
        )}
      </ul>
    </Panel>
  );
}

/** Under whom it lives and who lives under it. */
export function Relations({ detail: { kind, id, parent, children } }: { readonly detail: ActorDetail }) {
  if (parent === null && children.length === 0) return null;
  return (
    <Panel
      name="relations"
      title="Relations"
      end={
        <a class="quiet" href={linkTo({ view: 'tree', kind, id })}>
          tree
        </a>
      }
    >
      <ul class="relations">
        {parent !== null && (
          <li>
            <span class="soft">under</span>{' '}
            <a href={linkTo({ view: 'actor', ...parent })}>
              {parent.kind} {parent.id}
            </a>
          </li>
        )}
        {children.map((child) => (
          <li key={`${child.kind}/${child.id}`}>
            <a href={linkTo({ view: 'actor', kind: child.kind, id: child.id })}>
              <span class="kind-name">{child.kind}</span> {child.title ?? child.id}
            </a>
            {child.value !== null && <State value={child.value} />}
          </li>
        ))}
      </ul>
      {children.length === 100 && <p class="soft small">The newest hundred.</p>}
    </Panel>
  );
}

/** Events at which it failed. */
export function OwnLetters({ actor, count }: { readonly actor: ActorKey; readonly count: number }) {
  const letters = useLoaded(
    `letters ${actor.kind}/${actor.id} ${count}`,
    (signal) =>
      count === 0
        ? Promise.resolve<DeadLetters>({ deadLetters: [], next: null })
        : ask<DeadLetters>('/api/inspect/dead-letters?limit=500', { signal }),
    { touches: ({ entries }) => entries.some(({ kind, id }) => kind === actor.kind && id === actor.id) },
  );
  const mine =
    letters.value.value?.deadLetters.filter(
      (letter) => letter.actor.kind === actor.kind && letter.actor.id === actor.id,
    ) ?? [];
  if (mine.length === 0) return null;
  return (
    <Panel name="letters" title="Dead letters">
      <Letters letters={mine} />
    </Panel>
  );
}
