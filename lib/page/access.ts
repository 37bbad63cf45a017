import { signal } from '@preact/signals';

/**
 * Who looks at the page. A paired browser has its cookies and is asked nothing; anybody else gives the
 * operator's token once, which stays in this tab: it is sent as a bearer and never stands in an address.
 * `intercepted`: a proxy before the gateway asks for a login of its own.
 */
export type Access = 'loading' | 'needed' | 'wrong' | 'unreachable' | 'intercepted' | 'in';
export const access = signal<Access>('loading');
/** The time zone that the gateway's settings name; undefined: this browser's. */
export const timeZone = signal<string | undefined>(undefined);

const slot = 'troupe.bearer'; // before the first reading of it
let token = readKept();
export const bearer = (): string | null => token;

/** Use this token from now on; `keep` it once it has opened. */
export const use = (given: string): void => void (token = given.trim());

/** Keep the token for this tab. */
export const keep = (): void => store(token);

/** Forget the token. The gateway did not take it (any more), or the person has finished. */
export function leave(why: Access = 'needed'): void {
  access.value = why; // first: what a button holds is sent by the one who pressed it
  token = null;
  store(null);
}

function readKept(): string | null {
  try {
    return sessionStorage.getItem(slot);
  } catch {
    return null; // storage is switched off: then the token lives as long as the page
  }
}

function store(value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(slot);
    else sessionStorage.setItem(slot, value);
  } catch {
    /* as above */
  }
}
