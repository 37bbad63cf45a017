import { ask, Refused } from '../../../page/ask.js';
import { now, span } from '../../../page/clock.js';
import { State } from '../../../page/parts/state.js';
import { useLoaded } from '../live.js';
import { hasMoved } from '../moves.js';
import { linkTo } from '../place.js';
import type { ActorsPage, ActorSummary, Fleet } from '../../answers.js';

/** Actors that stand where nothing goes on by itself: halted, failed, blocked or interrupted; longest first. */
export const Stopped = () => (
  <ActorsPanel
    name="stopped"
    title="Stopped"
    about="halted, failed, blocked or interrupted; longest first"
    read={stopped}
  />
);

/** Sessions and runs that have been at work for long: no one is asked, and perhaps nothing goes on either. */
export const Stale = () => (
  <ActorsPanel
    name="stale"
    title="Long at work"
    about={`in the same state for more than ${span(staleSeconds * 1_000)}; longest first`}
    read={stale}
  />
);

function ActorsPanel({
  name,
  title,
  about,
  read,
}: {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly read: (signal: AbortSignal) => Promise<readonly ActorSummary[]>;
}) {
  const loaded = useLoaded(name, read, {
    touches: ({ entries, skipped }) => skipped > 0 || entries.some(hasMoved),
    everyMs: 30_000,
    restMs: 2_000,
  });
  const { value, error } = loaded.value;
  return (
    <section class="panel" aria-labelledby={`${name}-title`}>
      <h2 id={`${name}-title`}>
        {title}
        <span class="soft">{about}</span>
      </h2>
      {error !== undefined && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      {value?.length === 0 && <p class="empty">None.</p>}
      <ul class="stopped">
        {value?.slice(0, shownMax).map((actor) => (
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
      {value !== undefined && value.length > shownMax && (
        <p class="soft small">
          {value.length - shownMax} more: <a href={linkTo({ view: 'fleet' })}>choose a kind and a state</a>.
        </p>
      )}
    </section>
  );
}

async function stale(signal: AbortSignal): Promise<readonly ActorSummary[]> {
  const pages = await Promise.all(
    ['session', 'workflow-run'].map((kind) =>
      ask<ActorsPage>(
        `/api/inspect/actors?kind=${kind}&state=running&age=${staleSeconds}&limit=${perState}`,
        { signal },
      ).catch((error: unknown) => {
        if (error instanceof Refused && error.status === 400) return { actors: [] }; // a host without agents
        throw error;
      }),
    ),
  );
  return pages.flatMap(({ actors }) => actors).sort((a, b) => a.since - b.since);
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
    .sort((a, b) => a.since - b.since);
}

const stopping = /(?:^|\.)(?:error|blocked|interrupted|failed|escalated)$/;
const perState = 25;
/** Rows of a panel that are in the page. */
const shownMax = 25;
const staleSeconds = 900;
