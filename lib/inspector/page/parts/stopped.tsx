import { ask, Refused } from '../../../page/ask.js';
import { now, span } from '../../../page/clock.js';
import { Panel } from '../../../page/parts/panel.js';
import { State } from '../../../page/parts/state.js';
import { attention } from '../attention.js';
import { useLoaded } from '../live.js';
import { hasMoved } from '../moves.js';
import { Resume } from './decide.js';
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

/** Runs that are queued, sessions and runs that have been at work for long: no one is asked, perhaps nothing goes on. */
export const Stale = () => (
  <ActorsPanel
    name="stale"
    title="Queued or long at work"
    about={`waits for its turn, or has run for more than ${span(staleSeconds * 1_000)}; longest first`}
    read={stale}
  />
);

function ActorsPanel({
  name,
  title,
  about,
  read: load,
}: {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly read: (signal: AbortSignal) => Promise<readonly ActorSummary[]>;
}) {
  const loaded = useLoaded(name, load, {
    touches: ({ entries, skipped }) => skipped > 0 || entries.some(hasMoved),
    everyMs: 30_000,
    restMs: 2_000,
  });
  const { value: read, error } = loaded.value;
  // What waits for a decision stands above, with it
  const value = read?.filter(
    ({ kind, id }) => attention.value?.waiting.every((one) => one.kind !== kind || one.id !== id) ?? true,
  );
  return (
    <Panel name={name} title={title} about={about} error={error}>
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
            {actor.halted === null ? <span /> : <Resume actor={actor} />}
            <span class="num soft end">{span(now.value - (actor.halted?.at ?? actor.since))}</span>
          </li>
        ))}
      </ul>
      {value !== undefined && value.length > shownMax && (
        <p class="soft small">
          {value.length - shownMax} more: <a href={linkTo({ view: 'fleet' })}>choose a kind and a state</a>.
        </p>
      )}
    </Panel>
  );
}

async function stale(signal: AbortSignal): Promise<readonly ActorSummary[]> {
  const queries = [
    `kind=session&state=running&age=${staleSeconds}`,
    `kind=workflow-run&state=running&age=${staleSeconds}`,
    'kind=workflow-run&state=queued',
  ];
  const pages = await Promise.all(
    queries.map((query) =>
      ask<ActorsPage>(`/api/inspect/actors?${query}&limit=${perState}`, { signal }).catch(
        (error: unknown) => {
          if (error instanceof Refused && error.status === 400) return { actors: [] }; // a host without agents
          throw error;
        },
      ),
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
