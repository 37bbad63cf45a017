import { computed, signal } from '@preact/signals';
import type { Answer } from '../../client/requests.js';
import { said } from '../../page/ask.js';
import { client, must } from '../../page/gateway.js';
import { hear } from './live.js';

/**
 * Everything that waits on a person or an employee, read once for the whole page and kept true: the number in
 * the navigation, Now and the inbox show the same list.
 */
export type Waiting = Answer<'/api/attention', 'get'>['waiting'][number];

export const waiting = signal<readonly Waiting[] | undefined>(undefined);
export const waitingError = signal<string | undefined>(undefined);
/** There are more than were read. */
export const waitingMore = signal(false);
const pageMax = 500;
/** Between two readings: in a busy fleet something that may change it happens all the time. */
const restMs = 500;
let pages = 1;
/** A decision can be sent with a few seconds in which it can be withdrawn. */
export const holdsDecisions = signal(false);
/** What a person may end: the rest is an employee's, and stands in the inbox alone. */
export const waitingForYou = computed(() =>
  waiting.value?.filter(({ operatorEntitled }) => operatorEntitled),
);
export const waitingCount = computed(
  () => waitingForYou.value?.filter(({ held }) => held === undefined).length ?? 0,
);

export const keyOf = ({ kind, id, waitingId }: Pick<Waiting, 'kind' | 'id' | 'waitingId'>): string =>
  `${kind}/${id}/${waitingId}`;

/** Read it now, and whenever something happened that may have changed it. */
export function followWaiting(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy = false;
  let stale = false;
  let askedAt = -Infinity;
  const read = async (): Promise<void> => {
    timer = undefined;
    if (busy) return void (stale = true);
    busy = true;
    askedAt = performance.now();
    try {
      const found = new Map<string, Waiting>();
      let cursor: string | null = null;
      for (let read = 0; read === 0 || (read < pages && cursor !== null); read += 1) {
        const query = { limit: String(pageMax), ...(cursor !== null && { cursor }) };
        const answer: Answer<'/api/attention', 'get'> = await must(
          client.get('/api/attention', { params: { query } }),
        );
        for (const thing of answer.waiting) found.set(keyOf(thing), thing);
        cursor = answer.nextCursor;
        holdsDecisions.value = answer.holds;
      }
      waiting.value = [...found.values()];
      waitingMore.value = cursor !== null;
      waitingError.value = undefined;
    } catch (error) {
      waitingError.value = said(error);
      timer ??= setTimeout(() => void read(), 2_000);
    }
    busy = false;
    if (!stale) return;
    stale = false;
    soon();
  };
  const soon = (): void =>
    void (timer ??= setTimeout(() => void read(), Math.max(150, askedAt + restMs - performance.now())));
  refresh = soon;
  void read();
  const deaf = hear(({ frames, reset }) => {
    if (reset || frames.some(({ event }) => mayChange.test(event))) soon();
  });
  return () => {
    deaf();
    clearTimeout(timer);
  };
}

let refresh = (): void => undefined;
/** Read it again soon: a decision was refused, so what is shown may be old. */
export const refreshWaiting = (): void => refresh();

/** Read one page more, from now on. */
export function readMoreWaiting(): void {
  pages += 1;
  refresh();
}

const mayChange = /^(?:session|sessions|company|run|budget|org|connector|decision):/;
