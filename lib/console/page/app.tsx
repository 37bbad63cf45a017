import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { access } from '../../page/access.js';
import { ask } from '../../page/ask.js';
import { Frame, type Way } from '../../page/frame.js';
import { Gate } from '../../page/gate.js';
import { Keys, useKeys } from '../../page/keys.js';
import { stayLive } from './live.js';
import { later } from '../../page/parts/later.js';
import { Palette } from './parts/palette.js';
import { go, linkTo, place, type Place } from './place.js';
import { followHappenings, seenUntil } from './seen.js';
import { InboxPage } from './views/inbox.js';
import { MorePage } from './views/more.js';
import { NowPage } from './views/now.js';
import { views, type View } from './view-list.js';
import { followWaiting, waitingCount } from './waiting.js';

/** The console: the frame, and in it the view that the address names. */
export function App() {
  if (access.value !== 'in') return <Gate to="console" />;
  return <Inside />;
}

function Inside() {
  useEffect(followHappenings, []);
  useEffect(followWaiting, []);
  useEffect(openFeed, []);
  useWalk();
  const here = place.value;
  const name = nameOf(here);
  useEffect(() => {
    document.title = `${waitingCount.value > 0 ? `(${waitingCount.value}) ` : ''}${name} · Troupe`;
  }, [name, waitingCount.value]);
  const where = 'id' in here ? `${here.view}/${here.id ?? ''}` : here.view === 'text' ? here.path : here.view;
  return (
    <>
      <Frame
        home={linkTo({ view: 'now' })}
        ways={waysAt(here)}
        tools={<Palette views={views} />}
        where={where}
      >
        {viewOf(here)}
      </Frame>
      <Keys go={goBy} list={keys} />
    </>
  );
}

/** `j` and `k` in any list: the focus goes to the link of the next row or of the one before, which Enter opens. */
function useWalk(): void {
  // The inbox has a cursor of its own, by which its keys decide
  useKeys(
    (key) => place.value.view !== 'inbox' && (key === 'j' || key === 'k') && walk(key === 'j' ? 1 : -1),
  );
}

function walk(by: 1 | -1): boolean {
  const links = [...document.querySelectorAll<HTMLElement>(rows)].flatMap((row) => {
    const link = row.querySelector<HTMLElement>('a[href]');
    return link?.checkVisibility() === true ? [{ row, link }] : [];
  });
  const at = links.findIndex(({ row }) => row.contains(document.activeElement));
  const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
  next?.link.focus();
  return links.length > 0;
}

/** What an agent wrote may hold links in lists, and is none. */
const rows = 'main :is(li, tbody tr):not(.messages *)';

/** Where the last visit ended, if that is not too long ago; then what came since is replayed first. */
function openFeed(): () => void {
  let close: (() => void) | undefined;
  let closed = false;
  void ask<{ readonly seq: number }>('/api/inspect/fleet')
    .then(
      ({ seq }) => seenUntil(seq),
      () => undefined,
    )
    .then((since) => {
      if (!closed) close = stayLive(since);
    });
  return () => {
    closed = true;
    close?.();
  };
}

const more: View = { to: { view: 'more' }, name: 'More', keys: '', icon: 'M4 9h.01M9 9h.01M14 9h.01' };

function waysAt(here: Place): readonly Way[] {
  const current = navigated(here);
  const ways = views.map(({ to, ...view }) => ({
    ...view,
    href: linkTo(to),
    current: to.view === current,
    count: to.view === 'inbox' ? waitingCount.value : undefined,
    on: view.minor === true ? ('wide' as const) : undefined,
  }));
  const inspector: Way = {
    href: '/inspect',
    name: 'Inspector',
    keys: 'what is underneath',
    icon: 'M9 2.500L16 6 9 9.500 2 6zM2 9.500L9 13l7-3.500M2 13l7 3.500L16 13',
    current: false,
    on: 'wide',
  };
  const isMinor = ways.some(({ current: is, on }) => is && on === 'wide');
  return [
    ...ways,
    inspector,
    { ...more, href: linkTo(more.to), current: current === 'more' || isMinor, on: 'narrow' },
  ];
}

/** Views that stand inside another in the navigation. */
const within: Partial<Record<Place['view'], Place['view']>> = {
  item: 'board',
  changes: 'chat',
  workflow: 'workflows',
  'workflow-editor': 'workflows',
};

const navigated = (here: Place): Place['view'] =>
  here.view === 'text'
    ? here.path.startsWith('org/')
      ? 'organisation'
      : 'files'
    : (within[here.view] ?? here.view);

const goBy = Object.fromEntries(views.map(({ to, keys: pressed }) => [pressed.slice(-1), () => go(to)]));
const keys: readonly (readonly [string, string])[] = [
  ['/', 'find anything, do anything'],
  ...views.map(({ keys: pressed, name }) => [pressed, name] as const),
  ['j k', 'the next or previous thing in a list'],
  ['Enter', 'open it'],
  ['a r e', 'inbox: approve, reject, escalate'],
  ['s', 'inbox: send a message again'],
  ['u', 'inbox: undo, for five seconds'],
  ['n', 'inbox: write a note first'],
  ['x', 'inbox: mark for deciding together'],
  ['m', 'board: move the work item in focus'],
  ['Alt ↑ ↓', 'chat: move what waits in the queue'],
  ['?', 'this list'],
];

const nameOf = (here: Place): string =>
  here.view === 'item' || here.view === 'workflow'
    ? here.id
    : here.view === 'changes'
      ? 'Changes'
      : (views.find(({ to }) => to.view === navigated(here))?.name ?? 'More');

function viewOf(here: Place): ComponentChildren {
  switch (here.view) {
    case 'now':
      return <NowPage />;
    case 'inbox':
      return <InboxPage />;
    case 'chat':
      return <ChatPage id={here.id} q={here.q} />;
    case 'board':
      return <BoardPage place={here} />;
    case 'item':
      return <WorkItemPage key={here.id} id={here.id} />;
    case 'changes':
      return <ChangesPage key={here.id} id={here.id} />;
    case 'text':
      return <TextPage key={here.path} path={here.path} />;
    case 'workflows':
      return <WorkflowsPage />;
    case 'workflow':
      return <WorkflowPage key={here.id} id={here.id} />;
    case 'workflow-editor':
      return <WorkflowEditor key={here.id} id={here.id} />;
    case 'more':
      return <MorePage views={views.filter(({ minor }) => minor)} />;
    default:
      return <ListPage view={here.view} />;
  }
}

const ChatPage = later(() => import('./views/chat.js').then((part) => part.ChatPage));
const BoardPage = later(() => import('./views/board.js').then((part) => part.BoardPage));
const ChangesPage = later(() => import('./views/changes.js').then((part) => part.ChangesPage));
const WorkItemPage = later(() => import('./views/work-item.js').then((part) => part.WorkItemPage));
const WorkflowsPage = later(() => import('./views/workflows.js').then((part) => part.WorkflowsPage));
const WorkflowPage = later(() => import('./views/workflow.js').then((part) => part.WorkflowPage));
const WorkflowEditor = later(() => import('./views/workflow-editor.js').then((part) => part.WorkflowEditor));
const TextPage = later(() => import('./views/text.js').then((part) => part.TextPage));
const ListPage = later(() => import('./views/lists.js').then((part) => part.ListPage));
