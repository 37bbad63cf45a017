import { ask } from '../../../page/ask.js';
import { now, span } from '../../../page/clock.js';
import { State } from '../../../page/parts/state.js';
import { useLoaded } from '../live.js';
import { linkTo } from '../place.js';
import type { ActorsPage, ActorSummary, Fleet } from '../../answers.js';

/** Actors that stand where nothing goes on by itself: halted, failed, blocked or interrupted; longest first. */
export function Stopped() {
  const loaded = useLoaded('stopped', stopped, {
    touches: ({ entries, skipped }) => skipped > 0 || entries.some(({ from, to }) => from !== to),
    everyMs: 30_000,
  });
  const { value, error } = loaded.value;
  return (
    <section class="panel" aria-labelledby="stopped-title">
      <h2 id="stopped-title">
        Stopped
        <span class="soft">halted, failed, blocked or interrupted; longest first</span>
      </h2>
      {error !== undefined && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      {value?.length === 0 && <p class="empty">None.</p>}
      <ul class="stopped">
        {value?.map((actor) => (
          <li key={`${actor.kind}/${actor.id}`}>
            <a href={linkTo({ view: 'actor', kind: actor.kind, id: actor.id })}>
              <b>{actor.title ?? actor.id}</b>{' '}
              <small>
                <span class="kind-name">{actor.kind}</span> {actor.title !== null && actor.id}
              </small>
            </a>
            <State value={actor.value} halted={actor.halted !== null} />
            <span class="bad clip" title={actor.reason ?? ''}>
              {actor.reason}
            </span>
            <span class="num soft end">{span(now.value - (actor.halted?.at ?? actor.since))}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function stopped(signal: AbortSignal): Promise<readonly ActorSummary[]> {
  const { kinds } = await ask<Fleet>('/api/inspect/fleet', { signal });
  const queries = kinds.flatMap(({ kind, states, halted }) => [
    ...Object.keys(states)
      .filter((state) => stopping.test(state))
      .map((state) => `kind=${kind}&state=${encodeURIComponent(state)}`),
    ...(halted > 0 ? [`kind=${kind}&state=halted`] : []),
  ]);
  const pages = await Promise.all(
    queries.map((query) => ask<ActorsPage>(`/api/inspect/actors?${query}&limit=${perState}`, { signal })),
  );
  const actors = new Map(pages.flatMap((page) => page.actors).map((one) => [`${one.kind}/${one.id}`, one]));
  return [...actors.values()]
    .filter(({ status, halted }) => status === 'active' || halted !== null)
    .sort((a, b) => a.since - b.since)
    .slice(0, 50);
}

const stopping = /(?:^|\.)(?:error|blocked|interrupted|failed|escalated)$/;
const perState = 25;
