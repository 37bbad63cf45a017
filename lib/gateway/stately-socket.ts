import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { InspectFilter } from '../inspector/frames.js';
import { statelyWatch } from '../inspector/stately.js';
import type { Supervisor } from '../supervisor/contract.js';
import { outletOf } from './outlet.js';
import type { Watcher } from './watcher.js';

/**
 * `/ws/stately` for one socket. It speaks and does not listen: the protocol has nothing to say to who sends, and it
 * knows no positions, so a reconnect begins with the actors as they are then.
 */
export function statelyWatcher(options: { readonly supervisor: Supervisor; readonly socket: WebSocket; readonly filter: InspectFilter; readonly log: Logger }): Watcher {
  const { supervisor, socket, filter, log } = options;
  let watch: { stop(): void } | undefined;
  const outlet = outletOf(socket, () => watch?.stop());
  return {
    start() {
      watch = statelyWatch(supervisor, filter, outlet, (error) => {
        log.error({ err: error }, 'a Stately watcher ended in a fault');
        socket.close(1011, 'a fault');
      });
    },
    hear: () => undefined,
    cursor: () => undefined,
    stop: () => watch?.stop(),
  };
}
