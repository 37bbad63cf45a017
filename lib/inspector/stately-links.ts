import type { Caller } from '../../machines/caller.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import type { Supervisor } from '../supervisor/contract.js';
import type { StatelyQuery } from './stately.js';

/**
 * Links by which a receiver of Stately, which can send no header, watches for a person: each opens one socket, once,
 * within a minute, and shows what it was made for. Kept in memory alone.
 */
export interface StatelyLinks {
  /** `{code, ttlSeconds, expiresAt}`; `BUSY` while too many wait to be used. */
  create(link: StatelyLink): CreatedLink | Refusal;
  /** Whose link this is; from now on it opens nothing. */
  take(code: string): StatelyLink | undefined;
  /** Those of a browser that was revoked open nothing. */
  withdraw(deviceId: string): void;
}

/** For whom and what a link was made. */
export interface StatelyLink {
  readonly caller: Caller;
  readonly filter: Pick<StatelyQuery, 'kinds' | 'ids'>;
  readonly first: number | undefined;
}

export interface CreatedLink {
  readonly code: string;
  readonly ttlSeconds: number;
  /** Epoch ms. */
  readonly expiresAt: number;
}

const links = new WeakMap<Supervisor, StatelyLinks>();

/** The links of a supervisor. */
export function statelyLinksOf(supervisor: Supervisor): StatelyLinks {
  const known = links.get(supervisor);
  if (known !== undefined) return known;
  const made = openLinks(supervisor);
  links.set(supervisor, made);
  return made;
}

function openLinks({ environment: { clock, random } }: Supervisor): StatelyLinks {
  const waiting = new Map<string, { readonly link: StatelyLink; readonly until: number }>();
  const forgetOld = (): void => {
    for (const [code, { until }] of waiting) if (until <= clock.monotonic()) waiting.delete(code);
  };
  return {
    create(link) {
      forgetOld();
      if (waiting.size >= waitingMax) return refuse('BUSY');
      const code = random.secret(32);
      waiting.set(code, { link, until: clock.monotonic() + ttlSeconds * 1_000 });
      return { code, ttlSeconds, expiresAt: clock.now() + ttlSeconds * 1_000 };
    },
    take(code) {
      forgetOld();
      const found = waiting.get(code);
      waiting.delete(code);
      return found?.link;
    },
    withdraw(deviceId) {
      for (const [code, { link }] of waiting)
        if (link.caller.type === 'device' && link.caller.id === deviceId) waiting.delete(code);
    },
  };
}

const ttlSeconds = 60;
const waitingMax = 64;
