import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ask } from '../../page/ask.js';
import { useLoaded } from './live.js';
import { hasMoved } from './moves.js';
import type { Stuck } from '../stuck-answer.js';
import type { ActorKey } from '../../../machines/outputs.js';

/** What has stopped or perhaps does not go on; undefined until it was read. One reading for the list and its number. */
export const stuck = signal<Stuck | undefined>(undefined);
export const stuckError = signal<string | undefined>(undefined);

export function useStuck(): void {
  const loaded = useLoaded('stuck', (signal) => ask<Stuck>('/api/inspect/stuck', { signal }), {
    touches: ({ entries, skipped }) => skipped > 0 || entries.some(mayChange),
    everyMs: 10_000, // silence is nothing that happens
    restMs: 2_000,
  });
  const { value, error } = loaded.value;
  useEffect(() => {
    if (value !== undefined) stuck.value = value;
    stuckError.value = error;
  }, [value, error]);
}

const mayChange = (
  entry: Parameters<typeof hasMoved>[0] & { readonly event: { readonly type: string } },
): boolean => hasMoved(entry) || entry.event.type.startsWith('kernel.');

export const deadLetters = computed(() => stuck.value?.deadLetters ?? []);

export const keyOf = ({ kind, id }: ActorKey): string => `${kind}/${id}`;
