import { addressOf, createRouting } from '../../page/routing.js';

/** Where in the inspector one is: `linkTo({view: 'actor', kind: 'session', id: 's1'})` is `#/actor/session/s1`. */
export type Place =
  | { readonly view: 'fleet'; readonly kind?: string; readonly state?: string }
  | { readonly view: 'actor'; readonly kind: string; readonly id: string; readonly at?: number }
  | { readonly view: 'time'; readonly at?: number }
  | { readonly view: 'supervision' }
  | { readonly view: 'tree'; readonly kind?: string; readonly id?: string }
  | WaitingPlace
  | { readonly view: 'runs'; readonly workflow?: string; readonly id?: string; readonly other?: string };

/** The list of what is stuck: which of its rows are shown, and in which order. */
export interface WaitingPlace {
  readonly view: 'waiting';
  /** Words, all of which stand in a row. */
  readonly find?: string;
  readonly state?: string;
  readonly on?: string;
  /** For so many seconds at least. */
  readonly age?: number;
  readonly by?: WaitingColumn;
  readonly isDown?: boolean;
}
export type WaitingColumn = (typeof waitingColumns)[number];
const waitingColumns = ['title', 'state', 'on', 'since', 'until'] as const;

export const { place, linkTo, go, begin } = createRouting<Place>({ read, write });

function write(to: Place): string {
  if (to.view === 'fleet') return addressOf(['fleet'], { kind: to.kind, state: to.state });
  if (to.view === 'actor') return addressOf(['actor', to.kind, to.id], { at: to.at });
  if (to.view === 'time') return addressOf(['time'], { at: to.at });
  if (to.view === 'tree' && to.kind !== undefined && to.id !== undefined)
    return addressOf(['tree', to.kind, to.id]);
  if (to.view === 'waiting') {
    const { find, state, on, age, by, isDown } = to;
    const sort = by === undefined ? undefined : `${isDown === true ? '-' : ''}${by}`;
    return addressOf(['waiting'], { find, state, on, age, sort });
  }
  return to.view === 'runs' && to.workflow !== undefined && to.id !== undefined
    ? addressOf(['runs', to.workflow, to.id], { with: to.other })
    : addressOf([to.view]);
}

function read([view, first, second]: readonly string[], query: URLSearchParams): Place {
  const at = /^\d{1,15}$/.test(query.get('at') ?? '') ? Number(query.get('at')) : undefined;
  const kind = query.get('kind');
  const state = query.get('state');
  if (view === 'actor' && first && second)
    return { view, kind: first, id: second, ...(at !== undefined && { at }) };
  if (view === 'time') return { view, ...(at !== undefined && { at }) };
  if (view === 'supervision') return { view };
  if (view === 'waiting') return waitingOf(query);
  if (view === 'tree') return { view, ...(first && second && { kind: first, id: second }) };
  const other = query.get('with');
  if (view === 'runs')
    return {
      view,
      ...(first && second && { workflow: first, id: second, ...(other !== null && { other }) }),
    };
  return { view: 'fleet', ...(kind !== null && { kind }), ...(kind !== null && state !== null && { state }) };
}

function waitingOf(query: URLSearchParams): WaitingPlace {
  const given = (name: string): string | undefined => query.get(name) || undefined;
  const [find, state, on] = [given('find'), given('state'), given('on')];
  const age = Number(given('age'));
  const sort = given('sort') ?? '';
  const by = waitingColumns.find((column) => column === sort.replace(/^-/, ''));
  return {
    view: 'waiting',
    ...(find !== undefined && { find }),
    ...(state !== undefined && { state }),
    ...(on !== undefined && { on }),
    ...(age > 0 && { age }),
    ...(by !== undefined && { by, ...(sort.startsWith('-') && { isDown: true }) }),
  };
}
