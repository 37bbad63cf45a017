/**
 * Addresses of the nodes of one home, of which one owns it at a time. One that was found not to serve is passed over,
 * for all: the next one is asked from then on.
 */
export interface Nodes {
  /** Origin and path of the one that is asked now, without a slash at the end. */
  readonly current: string;
  readonly count: number;
  /** Does nothing where another one is asked already. */
  passOver(url: string): void;
}

/** `nodesOf(['https://one.example', 'https://two.example'])` */
export function nodesOf(given: readonly string[]): Nodes {
  const urls = given.map((url) => url.replace(/\/+$/, ''));
  if (urls.length === 0) throw new TypeError('createClient needs the url of a gateway.');
  let current = 0;
  return {
    get current() {
      return urls[current] as string;
    },
    count: urls.length,
    passOver(url) {
      if (urls[current] === url) current = (current + 1) % urls.length;
    },
  };
}

/** Refusals that say: not here, or not any more. Another node of the home may take the request. */
export const isElsewhere = (code: string): boolean => code === 'OWNER_ELSEWHERE' || code === 'DRAINING';

/** No connection was made: nothing was done. Browsers do not say. */
export function isUnsent(error: unknown): boolean {
  const { cause } = (error ?? {}) as { readonly cause?: { readonly code?: unknown } };
  return cause?.code === 'ECONNREFUSED' || cause?.code === 'UND_ERR_CONNECT_TIMEOUT';
}
