import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { access } from '../../page/access.js';
import { Frame } from '../../page/frame.js';
import { Gate } from '../../page/gate.js';
import { Keys } from '../../page/keys.js';
import { later } from '../../page/parts/later.js';
import { useAttention } from './attention.js';
import { stayLive } from './live.js';
import { go, linkTo, place, type Place } from './place.js';
import { followPulse } from './pulse.js';
import { problemsCount, problemsInWords } from './problems.js';
import { useStuck } from './stuck.js';
import { Jump } from './parts/jump.js';

/** Each view comes when it is gone to: which one is seen first is known when it is known what waits. */
const FleetPage = later(async () => (await import('./views/fleet.js')).FleetPage);
const WaitingPage = later(async () => (await import('./views/waiting.js')).WaitingPage);
const ActorPage = later(async () => (await import('./views/actor.js')).ActorPage);
const RunsPage = later(async () => (await import('./views/runs.js')).RunsPage);
const SupervisionPage = later(async () => (await import('./views/supervision.js')).SupervisionPage);
const TreePage = later(async () => (await import('./views/tree.js')).TreePage);
const TimePage = later(async () => (await import('./views/time.js')).TimePage);

/** The inspector: the frame, and in it the view that the address names. */
export function App() {
  if (access.value !== 'in') return <Gate to="inspector" />;
  return <Inside />;
}

function Inside() {
  useEffect(stayLive, []);
  useEffect(followPulse, []);
  useAttention();
  useStuck();
  const isUndecided = useFirstView();
  const here = place.value;
  useEffect(() => {
    document.title = `${titleOf(here)} · Troupe inspector`;
  }, [here]);
  const where =
    here.view === 'actor'
      ? linkTo({ view: 'actor', kind: here.kind, id: here.id })
      : here.view === 'runs' || here.view === 'tree'
        ? linkTo(here)
        : here.view;
  const ways = views.map(({ to, ...view }) => ({
    ...view,
    href: linkTo(to),
    current:
      here.view === to.view ||
      (to.view === 'fleet' && here.view === 'actor') ||
      (to.view === 'supervision' && here.view === 'tree'),
    ...(to.view === 'waiting' && { count: problemsCount.value ?? 0, counted: problemsInWords.value }),
  }));
  return (
    <>
      <Frame home={linkTo({ view: 'fleet' })} ways={ways} tools={<Jump />} where={where}>
        {isUndecided ? <section class="view" aria-busy="true" /> : viewOf(here)}
      </Frame>
      <Keys go={goBy} list={keys} />
    </>
  );
}

/**
 * Who names no view sees what waits where something does, else the fleet. True until that is known.
 */
function useFirstView(): boolean {
  const isOpen = useSignal(!location.hash.startsWith('#/'));
  const count = problemsCount.value;
  const decide = (found: number): void => {
    isOpen.value = false;
    if (!location.hash.startsWith('#/')) go({ view: found > 0 ? 'waiting' : 'fleet' }, { replace: true });
  };
  useEffect(() => {
    if (count !== undefined && isOpen.value) decide(count);
  }, [count]);
  return isOpen.value && !location.hash.startsWith('#/');
}

const views: readonly {
  readonly to: Place;
  readonly name: string;
  readonly keys: string;
  readonly icon: string;
}[] = [
  {
    to: { view: 'waiting' },
    name: 'Waiting',
    keys: 'g w',
    icon: 'M4 2.500h10M4 15.500h10M5.500 2.500c0 6 7 7 7 13M12.500 2.500c0 6-7 7-7 13',
  },
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

const goBy = {
  ...Object.fromEntries(views.map(({ to, keys }) => [keys.slice(-1), () => go(to)])),
  a: () => go({ view: 'tree' }),
};
const keys: readonly (readonly [string, string])[] = [
  ['/', 'go to an actor by kind and id'],
  ['g w', 'what waits'],
  ['g f', 'the fleet'],
  ['g t', 'time'],
  ['g s', 'supervision'],
  ['g a', 'the actor tree'],
  ['g r', 'workflow runs'],
  ['↑ ↓', 'one actor up or down in the list'],
  ['← →', 'close or open a branch of the tree'],
  ['Enter', 'open it'],
  ['[ ]', 'a step back or forward in time'],
  ['l', 'back to now'],
  ['?', 'this list'],
];

function viewOf(here: Place): ComponentChildren {
  if (here.view === 'actor')
    return (
      <ActorPage key={`${here.kind}/${here.id}`} actor={{ kind: here.kind, id: here.id }} at={here.at} />
    );
  if (here.view === 'time') return <TimePage at={here.at} />;
  if (here.view === 'waiting') return <WaitingPage at={here} />;
  if (here.view === 'tree') {
    const { kind, id } = here;
    return <TreePage root={kind === undefined || id === undefined ? undefined : { kind, id }} />;
  }
  if (here.view === 'supervision') return <SupervisionPage />;
  if (here.view === 'runs') return <RunsPage workflow={here.workflow} id={here.id} other={here.other} />;
  return <FleetPage kind={here.kind} state={here.state} />;
}

const titleOf = (here: Place): string =>
  here.view === 'actor'
    ? `${here.kind} ${here.id}`
    : here.view === 'tree'
      ? 'Actor tree'
      : (views.find(({ to }) => to.view === here.view)?.name ?? '');
