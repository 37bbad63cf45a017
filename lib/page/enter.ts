import { isRefusal } from '../client/refusal.js';
import { access, bearer, keep, leave, timeZone, use } from './access.js';
import { client, isIntercepted } from './gateway.js';

/** Find out whether this browser is let in as it is. */
export async function enter(): Promise<void> {
  await redeemGrant();
  const token = bearer();
  if (token === null) await judge();
  else await present(token);
}

/** Try a token, and keep it for this tab if it opens. */
export async function present(given: string): Promise<void> {
  use(given);
  const opened = await judge();
  if (opened === true) keep();
  else if (opened === false) leave('wrong');
}

/**
 * After a socket was closed, or not opened: a browser is told no reason, and a viewer who is no longer let in
 * belongs to the gate. A gateway that does not answer changes nothing.
 */
export async function confirm(): Promise<void> {
  const status = await statusOf();
  if (access.value !== 'in') return;
  if (status === 401) leave();
  else if (status === 'intercepted') access.value = status;
}

/** True: let in. False: the gateway says no. Undefined: it says nothing. */
async function judge(): Promise<boolean | undefined> {
  const status = await statusOf();
  if (status === 'intercepted') access.value = status;
  else access.value = status === 200 ? 'in' : status === 401 || status === 403 ? 'needed' : 'unreachable';
  return access.value === 'in' ? true : access.value === 'needed' ? false : undefined;
}

/** 0: nothing answers, or something that no gateway says. */
const statusOf = async (): Promise<number | 'intercepted'> => {
  const answer = await client.get('/api/inspect/fleet').catch((error: unknown) => error);
  if (isIntercepted(answer)) return 'intercepted';
  if (answer instanceof Error) return 0;
  if (isRefusal(answer)) return answer.status;
  timeZone.value = (answer as { readonly timeZone?: string | null }).timeZone ?? undefined;
  return 200;
};

/**
 * A link from `troupe open` carries a grant in its fragment, which browsers send nowhere. It becomes cookies,
 * and goes from the address at once.
 */
async function redeemGrant(): Promise<void> {
  const grant = new URLSearchParams(location.hash.slice(1)).get('svc-bootstrap');
  if (grant === null) return;
  history.replaceState(null, '', location.pathname);
  // The document names no header that is a credential
  const params = { header: { 'x-svc-bootstrap-grant': grant } } as never;
  await client.post('/api/auth/bootstrap', { params, body: {} }).catch(() => undefined);
}
