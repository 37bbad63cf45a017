import { signal, type Signal } from '@preact/signals';

/**
 * Where in a page one is: kept in the fragment of the address, so that every view can be linked to and gone
 * back to. What places there are and how they are written is the page's own.
 */
export interface Routing<Place> {
  readonly place: Signal<Place>;
  readonly linkTo: (to: Place) => string;
  /** `replace`: without a step in the history of the browser, as when something is dragged. */
  readonly go: (to: Place, options?: { readonly replace?: boolean }) => void;
  /** Read the address, now and whenever it changes. */
  readonly begin: () => void;
}

/** `createRouting({ read: (path, query) => place, write: (place) => '/actor/session/s1' })` */
export function createRouting<Place>({
  read,
  write,
}: {
  readonly read: (path: readonly string[], query: URLSearchParams) => Place;
  readonly write: (place: Place) => string;
}): Routing<Place> {
  const placeOf = (hash: string): Place => {
    const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2);
    return read(path.split('/').slice(1).map(decoded), new URLSearchParams(search));
  };
  const linkTo = (to: Place): string => `#${write(to)}`;
  const place = signal(placeOf(''));
  const follow = (): void => {
    place.value = placeOf(location.hash);
  };
  return {
    place,
    linkTo,
    go(to, { replace = false } = {}) {
      if (replace) history.replaceState(null, '', linkTo(to));
      else history.pushState(null, '', linkTo(to));
      place.value = to;
    },
    begin() {
      addEventListener('hashchange', follow);
      if (!location.hash.includes('svc-bootstrap=')) follow();
    },
  };
}

/** `addressOf(['actor', kind, id], { at })`: what is undefined is left out. */
export function addressOf(
  path: readonly string[],
  members: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members))
    if (value !== undefined) query.set(name, String(value));
  return `/${path.map(encodeURIComponent).join('/')}${query.size === 0 ? '' : `?${query}`}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // typed by hand, with a lone percent sign
  }
}
