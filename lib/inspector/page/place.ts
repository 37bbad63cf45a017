import { signal } from '@preact/signals';

/**
 * Where in the page one is: kept in the fragment of the address, so that every view can be linked to and gone
 * back to.
 */
export type Place =
  | { readonly view: 'fleet'; readonly kind?: string; readonly state?: string }
  | { readonly view: 'actor'; readonly kind: string; readonly id: string; readonly at?: number }
  | { readonly view: 'time'; readonly at?: number }
  | { readonly view: 'supervision' }
  | { readonly view: 'runs'; readonly workflow?: string; readonly id?: string };

export const place = signal<Place>({ view: 'fleet' });

export function beginRouting(): void {
  const read = (): void => {
    place.value = placeOf(location.hash);
  };
  addEventListener('hashchange', read);
  if (!location.hash.includes('svc-bootstrap=')) read();
}

/** `linkTo({view: 'actor', kind: 'session', id: 's1'})` is `#/actor/session/s1`. */
export function linkTo(to: Place): string {
  const query = new URLSearchParams();
  if ('at' in to && to.at !== undefined) query.set('at', String(to.at));
  if (to.view === 'fleet' && to.kind !== undefined) query.set('kind', to.kind);
  if (to.view === 'fleet' && to.state !== undefined) query.set('state', to.state);
  const path =
    to.view === 'actor'
      ? `/actor/${encodeURIComponent(to.kind)}/${encodeURIComponent(to.id)}`
      : to.view === 'runs' && to.workflow !== undefined && to.id !== undefined
        ? `/runs/${encodeURIComponent(to.workflow)}/${encodeURIComponent(to.id)}`
        : `/${to.view}`;
  return `#${path}${query.size === 0 ? '' : `?${query}`}`;
}

/** `replace`: without a step in the history of the browser, as when something is dragged. */
export function go(to: Place, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', linkTo(to));
  else history.pushState(null, '', linkTo(to));
  place.value = to;
}

export function placeOf(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2);
  const [, view, first, second] = path.split('/').map(decoded);
  const query = new URLSearchParams(search);
  const at = /^\d{1,15}$/.test(query.get('at') ?? '') ? Number(query.get('at')) : undefined;
  const kind = query.get('kind');
  const state = query.get('state');
  if (view === 'actor' && first && second)
    return { view, kind: first, id: second, ...(at !== undefined && { at }) };
  if (view === 'time') return { view, ...(at !== undefined && { at }) };
  if (view === 'supervision') return { view };
  if (view === 'runs') return { view, ...(first && second && { workflow: first, id: second }) };
  return { view: 'fleet', ...(kind !== null && { kind }), ...(kind !== null && state !== null && { state }) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody typed a lone percent sign
  }
}
