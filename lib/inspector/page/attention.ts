import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ask } from '../../page/ask.js';
import { useLoaded } from './live.js';
import type { WaitingThing } from '../../client/decision.js';
import type { Answer } from '../../client/requests.js';

/** A row of `GET /api/attention`: something that an actor cannot go on without. */
export type Waiting = WaitingThing;

export interface Attention {
  readonly waiting: readonly Waiting[];
  /** There are more than are shown. */
  readonly isCut: boolean;
  /** A decision can be sent with a few seconds in which it can be withdrawn. */
  readonly holds: boolean;
  readonly error: string | undefined;
}

/** What waits, longest first; undefined until it was read. One reading for all views, kept true by the feed. */
export const attention = signal<Attention | undefined>(undefined);

export function useAttention(): void {
  const loaded = useLoaded(
    'attention',
    (signal) => ask<Answer<'/api/attention', 'get'>>(`/api/attention?limit=${waitingMax}`, { signal }),
    { touches: ({ entries, skipped }) => skipped > 0 || entries.length > 0, everyMs: 30_000, restMs: 1_000 },
  );
  const { value, error } = loaded.value;
  useEffect(() => {
    if (value !== undefined || error !== undefined)
      attention.value = {
        waiting: value?.waiting ?? [],
        isCut: (value?.nextCursor ?? null) !== null,
        holds: value?.holds ?? false,
        error,
      };
  }, [value, error]);
}

/** Of a row, and of what its buttons came to. */
export const keyOfWaiting = ({ kind, id, waitingId }: Pick<Waiting, 'kind' | 'id' | 'waitingId'>): string =>
  `${kind}/${id}/${waitingId}`;

const waitingMax = 500;
