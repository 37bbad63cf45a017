import { signal } from '@preact/signals';
import { closeCodes } from '../client/inspector-frames.js';
import { GatewayError } from '../client/refusal.js';
import { access, bearer } from './access.js';
import { dropDrafts } from './draft.js';
import { confirm } from './enter.js';
import { retryMs } from './gateway.js';

/**
 * How a page is connected. The console follows the events of `troupe/client`, the inspector its own feed over the
 * same kind of connection; what they share is what the frame of the page shows.
 */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');
/** Last log position that was received. */
export const head = signal(0);
/** Frames that did not begin where the one before them ended. */
export const gaps = signal(0);
/** The gateway's clock minus this browser's, in milliseconds. */
export const skewMs = signal(0);

export const showConnection = (isOpen: boolean): void => void (connection.value = isOpen ? 'live' : 'lost');

/**
 * `useEffect(() => keepOpen(open), [])`: what `open` opens is open again whenever it has ended, while the viewer is
 * let in. Whether they are is asked then: one who is not belongs to the gate. Returns the way to stop.
 */
export function keepOpen(open: (onEnd: (error?: unknown) => void) => () => void): () => void {
  let retry: ReturnType<typeof setTimeout> | undefined;
  let close = (): void => undefined;
  let isStopped = false;

  function begin(): void {
    close = open((error) => void end(error));
  }

  async function end(error: unknown): Promise<void> {
    showConnection(false);
    // The next person at this device must not read what was written on it. A gateway that only does not know this
    // browser may be another one at the same address.
    if (isRevoked(error) && bearer() === null) dropDrafts();
    await confirm();
    if (!isStopped && access.value === 'in') retry = setTimeout(begin, retryMs);
  }

  begin();
  return () => {
    isStopped = true;
    clearTimeout(retry);
    close();
  };
}

const isRevoked = (error: unknown): boolean =>
  error instanceof GatewayError && error.cause === closeCodes.credentialEnded;
