import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isDecidedHere } from './decide.js';
import { keyOf, waiting, type Waiting } from './waiting.js';

/**
 * Where one stands in the list of what waits. Asked when a key is pressed, not when the page was drawn: between the
 * two lies the time in which fast fingers press the next key, or in which another decides what stood there.
 */
export interface Cursor {
  readonly key: ReadonlySignal<string | undefined>;
  readonly index: () => number;
  readonly thing: () => Waiting | undefined;
  /** To this thing, because a person or their decision went there. */
  readonly to: (key: string) => void;
  /** What stood there has gone of itself, and the next has come so lately that no one can have read it. */
  readonly isNew: () => boolean;
}

/** `gone(key)` is told of what went although the cursor was on it. */
export function useCursor(gone: (key: string) => void): Cursor {
  const key = useSignal<string | undefined>(undefined);
  const place = useRef(0);
  const cameAt = useRef(-Infinity);
  const last = useRef<Waiting | undefined>(undefined);
  const listed = useRef<ReadonlySet<string>>(new Set());
  /**
   * What stood there last has gone, and no one went on from it: another decided it, or it left when its five seconds
   * were over, or what takes its place has only now come.
   */
  const isTakenAway = (): boolean => {
    if (key.value === undefined || placeOf() >= 0) return false;
    const [before, next] = [last.current, thing()];
    const isMine = before !== undefined && keyOf(before) === key.value && isDecidedHere(before);
    return !isMine || before.held !== undefined || (next !== undefined && !listed.current.has(keyOf(next)));
  };
  const placeOf = (): number => waiting.value?.findIndex((one) => keyOf(one) === key.value) ?? -1;
  const index = (): number => {
    const at = placeOf();
    return at >= 0 ? at : Math.max(0, Math.min(place.current, (waiting.value?.length ?? 0) - 1));
  };
  const thing = (): Waiting | undefined => waiting.value?.[index()];
  const list = waiting.value;
  useEffect(() => {
    const next = thing();
    if (next === undefined) return;
    if (placeOf() < 0) {
      if (isTakenAway()) cameAt.current = performance.now();
      if (key.value !== undefined) gone(key.value);
      key.value = keyOf(next);
    }
    // What was decided leaves its place to the next: the cursor stays where it was
    place.current = index();
    last.current = next;
    listed.current = new Set(list?.map(keyOf));
  }, [list, key.value]);
  return {
    key,
    index,
    thing,
    to(next) {
      key.value = next;
      cameAt.current = -Infinity;
    },
    isNew: () => isTakenAway() || performance.now() - cameAt.current < readingMs,
  };
}

/** Sooner no one has read what it says and decided. */
const readingMs = 1_000;
