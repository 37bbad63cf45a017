import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { InspectFilter } from '../inspector/frames.js';
import { firstMax, statelyWatch } from '../inspector/stately.js';
import type { Supervisor } from '../supervisor/contract.js';
import { refuse, type Refusal } from '../../machines/refusals.js';
import { outletOf } from './outlet.js';
import type { Watcher } from './watcher.js';

/**
 * `/ws/stately` for one socket. It speaks and does not listen: the protocol has nothing to say to who sends. `since`
 * (the `seq` of the last snapshot) goes on from there; without it a socket begins with the actors as they are, the
 * `first` of every kind or those that the filter names.
 */
export function statelyWatcher(options: { readonly supervisor: Supervisor; readonly socket: WebSocket; readonly filter: InspectFilter; readonly first: number | undefined; readonly log: Logger }): Watcher {
  const { supervisor, socket, filter, first, log } = options;
  let watch: { stop(): void } | undefined;
  const outlet = outletOf(socket, () => watch?.stop());
  return {
    start(since) {
      watch = statelyWatch(supervisor, { ...filter, first, since }, outlet, (error) => {
        log.error({ err: error }, 'a Stately watcher ended in a fault');
        socket.close(1011, 'a fault');
      });
    },
    hear: () => undefined,
    cursor: () => undefined,
    stop: () => watch?.stop(),
  };
}

/** `?first=500`: how many of each kind are introduced. */
export function firstOfQuery({ first }: Readonly<Record<string, string>>): number | undefined | Refusal {
  if (first === undefined) return undefined;
  return /^\d{1,4}$/.test(first) && Number(first) <= firstMax ? Number(first) : refuse('BAD_REQUEST', { path: 'first' }, `first: must be a number up to ${firstMax}`);
}
