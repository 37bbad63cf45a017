import { addressOf, createRouting } from '../../page/routing.js';

/** Where in the console one is: `linkTo({ view: 'chat', id: 's1' })` is `#/chat/s1`. */
export type Place =
  | { readonly view: 'now' | 'more' | SimpleView }
  /** `key`: the thing in focus, as `keyOf` names it; notifications link to it. */
  | { readonly view: 'inbox'; readonly key?: string }
  | { readonly view: 'chat'; readonly id?: string; readonly q?: string }
  | {
      readonly view: 'board';
      readonly lanes?: 'assignee' | 'department';
      readonly assignee?: string;
      readonly q?: string;
    }
  | { readonly view: 'item'; readonly id: string }
  /** `path`: `skills/review/SKILL.md` */
  | { readonly view: 'text'; readonly path: string }
  | { readonly view: 'workflows' }
  | { readonly view: 'workflow'; readonly id: string }
  /** Without an id a new one. */
  | { readonly view: 'workflow-editor'; readonly id?: string }
  /** Of a session. */
  | { readonly view: 'changes'; readonly id: string };

/** Views that are one list and have no parameters. */
export type SimpleView = 'organisation' | 'cost' | 'cron' | 'connectors' | 'files' | 'settings';
export const simpleViews: readonly SimpleView[] = [
  'organisation',
  'cost',
  'cron',
  'connectors',
  'files',
  'settings',
];

export const { place, linkTo, go, begin } = createRouting<Place>({ read, write });

function write(to: Place): string {
  if (to.view === 'chat')
    return to.id === undefined ? addressOf(['chat'], { q: to.q }) : addressOf(['chat', to.id]);
  if (to.view === 'board') return addressOf(['board'], { lanes: to.lanes, assignee: to.assignee, q: to.q });
  if (to.view === 'item' || to.view === 'changes' || to.view === 'workflow')
    return addressOf([to.view, to.id]);
  if (to.view === 'text') return addressOf(['text', ...to.path.split('/')]);
  if (to.view === 'workflow-editor' && to.id !== undefined) return addressOf([to.view, to.id]);
  if (to.view === 'inbox' && to.key !== undefined) return addressOf(['inbox', to.key]);
  return addressOf([to.view]);
}

function read([view, first, ...rest]: readonly string[], query: URLSearchParams): Place {
  const q = query.get('q');
  if (view === 'chat') return { view, ...(first ? { id: first } : q ? { q } : {}) };
  if (view === 'board') {
    const lanes = query.get('lanes');
    const assignee = query.get('assignee');
    return {
      view,
      ...((lanes === 'assignee' || lanes === 'department') && { lanes }),
      ...(assignee && { assignee }),
      ...(q && { q }),
    };
  }
  if ((view === 'item' || view === 'changes' || view === 'workflow') && first) return { view, id: first };
  if (view === 'workflow-editor') return { view, ...(first && { id: first }) };
  if (view === 'workflows') return { view };
  if (view === 'text' && first) return { view, path: [first, ...rest].join('/') };
  const simple = simpleViews.find((one) => one === view);
  if (simple !== undefined) return { view: simple };
  if (view === 'inbox') return { view, ...(first && { key: first }) };
  return { view: view === 'more' ? view : 'now' };
}

/** Where the inspector shows what is under a thing. */
export const inspectorLink = (kind: string, id: string): string =>
  `/inspect#/actor/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
