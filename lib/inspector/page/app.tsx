import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { access, leave, bearer } from './access.js';
import { whole } from './clock.js';
import { Gate } from './gate.js';
import { Keys } from './keys.js';
import { connection, gaps, head, stayLive } from './live.js';
import { linkTo, place, type Place } from './place.js';
import { followPulse } from './pulse.js';
import { Jump } from './parts/jump.js';
import { Mark } from './parts/mark.js';
import { ActorPage } from './views/actor.js';
import { FleetPage } from './views/fleet.js';
import { RunsPage } from './views/runs.js';
import { SupervisionPage } from './views/supervision.js';
import { TimePage } from './views/time.js';

/** The frame around every view: where one can go, whether what one sees is live, and the view itself. */
export function App() {
  if (access.value !== 'in') return <Gate />;
  return <Inside />;
}

function Inside() {
  useEffect(stayLive, []);
  useEffect(followPulse, []);
  const here = place.value;
  useEffect(() => {
    document.title = `${titleOf(here)} · Troupe inspector`;
  }, [here]);
  const where =
    here.view === 'actor'
      ? linkTo({ view: 'actor', kind: here.kind, id: here.id })
      : here.view === 'runs'
        ? linkTo(here)
        : here.view;
  const before = useRef(where);
  useEffect(() => {
    if (before.current === where) return;
    // What had the focus is gone with the view before: who listens or walks by keys begins at the new one
    before.current = where;
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [where]);
  return (
    <div class="frame">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to the view
      </a>
      <header class="side">
        <a class="brand" href={linkTo({ view: 'fleet' })}>
          <Mark />
          Troupe
        </a>
        <nav aria-label="Views">
          <ul>
            {views.map((view) => (
              <li key={view.to.view}>
                <NavLink {...view} here={here} />
              </li>
            ))}
          </ul>
        </nav>
        <Jump />
        <Status />
      </header>
      <main id="main" tabIndex={-1}>
        <Lost />
        {viewOf(here)}
      </main>
      <Keys />
    </div>
  );
}

const views: readonly {
  readonly to: Place;
  readonly name: string;
  readonly keys: string;
  readonly icon: string;
}[] = [
  { to: { view: 'fleet' }, name: 'Fleet', keys: 'g f', icon: 'M3 4h12M3 9h12M3 14h8' },
  {
    to: { view: 'time' },
    name: 'Time',
    keys: 'g t',
    icon: 'M9 5v4.500l3 1.500M16 9A7 7 0 1 1 2 9a7 7 0 0 1 14 0z',
  },
  {
    to: { view: 'supervision' },
    name: 'Supervision',
    keys: 'g s',
    icon: 'M9 3v4M9 7c0 3-5.500 2-5.500 6M9 7c0 3 5.500 2 5.500 6M9 7v6',
  },
  {
    to: { view: 'runs' },
    name: 'Runs',
    keys: 'g r',
    icon: 'M3 4.500h4v4H3zM11 9.500h4v4h-4zM7 6.500h3c2 0 3 1 3 3',
  },
];

function NavLink({ to, name, keys, icon, here }: (typeof views)[number] & { readonly here: Place }) {
  const current = here.view === to.view || (to.view === 'fleet' && here.view === 'actor');
  return (
    <a href={linkTo(to)} aria-current={current ? 'page' : undefined} title={`${name} (${keys})`}>
      <svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
        <path d={icon} />
      </svg>
      <span>{name}</span>
    </a>
  );
}

function viewOf(here: Place): ComponentChildren {
  if (here.view === 'actor')
    return (
      <ActorPage key={`${here.kind}/${here.id}`} actor={{ kind: here.kind, id: here.id }} at={here.at} />
    );
  if (here.view === 'time') return <TimePage at={here.at} />;
  if (here.view === 'supervision') return <SupervisionPage />;
  if (here.view === 'runs') return <RunsPage workflow={here.workflow} id={here.id} />;
  return <FleetPage kind={here.kind} state={here.state} />;
}

const titleOf = (here: Place): string =>
  here.view === 'actor'
    ? `${here.kind} ${here.id}`
    : (views.find(({ to }) => to.view === here.view)?.name ?? '');

function Status() {
  const state = connection.value;
  return (
    <div class="status">
      <p role="status" data-connection={state} data-gaps={gaps.value}>
        <i class={`dot ${state}`} aria-hidden="true" />
        {state === 'live' ? 'Live' : state === 'lost' ? 'Connecting again …' : 'Connecting …'}
      </p>
      <p class="soft num" title="Position in the log">
        seq <span data-head>{whole(head.value)}</span>
      </p>
      {bearer() !== null && (
        <button type="button" class="quiet" onClick={() => leave()}>
          Forget token
        </button>
      )}
    </div>
  );
}

function Lost() {
  if (connection.value !== 'lost') return null;
  return (
    <p class="banner" role="alert">
      The gateway is gone. What you see is from before; the page goes on by itself, without a gap, when it is
      back. If it stays away: <code>troupe start</code>.
    </p>
  );
}
