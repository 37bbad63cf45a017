import { signal } from '@preact/signals';
import { base } from './base.js';

/**
 * Who looks at the page. A paired browser has its cookies and is asked nothing; anybody else gives the
 * operator's token once, which stays in this tab: it is sent as a bearer and never stands in an address.
 */
export type Access = 'loading' | 'needed' | 'wrong' | 'unreachable' | 'in';
export const access = signal<Access>('loading');

const slot = 'troupe.bearer'; // before the first reading of it
let token = readKept();
export const bearer = (): string | null => token;

/** Find out whether this browser is let in as it is. */
export async function enter(): Promise<void> {
  await redeemGrant();
  if (token === null) await judge();
  else await present(token);
}

/** Try a token, and keep it for this tab if it opens. */
export async function present(given: string): Promise<void> {
  token = given.trim();
  const opened = await judge();
  if (opened === true) keep(token);
  else if (opened === false) leave('wrong');
}

/**
 * After a socket was closed, or not opened: a browser is told no reason, and whoever is no longer let in belongs to
 * the gate. A gateway that does not answer changes nothing.
 */
export async function confirm(): Promise<void> {
  const answer = await fetch(`${base}/api/inspect/fleet`, {
    headers: credentials(),
    credentials: 'same-origin',
    redirect: 'error',
  }).catch(() => undefined);
  if (answer?.status === 401 && access.value === 'in') leave();
}

/** Forget the token. The gateway did not take it (any more), or the person has finished. */
export function leave(why: Access = 'needed'): void {
  token = null;
  keep(null);
  access.value = why;
}

/** True: let in. False: the gateway says no. Undefined: it says nothing. */
async function judge(): Promise<boolean | undefined> {
  try {
    const answer = await fetch(`${base}/api/inspect/fleet`, {
      headers: credentials(),
      credentials: 'same-origin',
      redirect: 'error',
    });
    if (answer.ok) access.value = 'in';
    else if (answer.status === 401 || answer.status === 403) access.value = 'needed';
    else access.value = 'unreachable';
    return access.value === 'in' ? true : access.value === 'needed' ? false : undefined;
  } catch {
    access.value = 'unreachable';
    return undefined;
  }
}

export const credentials = (): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

/**
 * A link from `troupe open` carries a grant in its fragment, which browsers send nowhere. It becomes cookies,
 * and goes from the address at once.
 */
async function redeemGrant(): Promise<void> {
  const grant = new URLSearchParams(location.hash.slice(1)).get('svc-bootstrap');
  if (grant === null) return;
  history.replaceState(null, '', location.pathname);
  await fetch('/api/auth/bootstrap', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-bootstrap-grant': grant },
    body: '{}',
    credentials: 'same-origin',
    redirect: 'error',
  }).catch(() => undefined);
}

function readKept(): string | null {
  try {
    return sessionStorage.getItem(slot);
  } catch {
    return null; // storage is switched off: then the token lives as long as the page
  }
}

function keep(value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(slot);
    else sessionStorage.setItem(slot, value);
  } catch {
    /* as above */
  }
}
