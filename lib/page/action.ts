import { signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { said } from './ask.js';
import { now } from './clock.js';
import { skewMs } from './connection.js';
import { isFocusLost } from './keys.js';

/**
 * Something that a person does and the gateway may refuse: what there is to say of it, and whether it is
 * under way.
 */
export interface Action {
  readonly message: string;
  readonly busy: boolean;
  /**
   * Never twice at once. A sentence that `action` returns is shown afterwards; where it fails, what went wrong.
   */
  readonly attempt: (action: () => Promise<unknown>, meanwhile?: string) => Promise<void>;
}

export function useAction(): Action {
  const message = useSignal('');
  const busy = useSignal(false);
  const before = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    // What is disabled meanwhile loses the focus: who walks by keys would begin at the top of the page again
    if (!busy.value && isFocusLost()) before.current?.focus();
  }, [busy.value]);
  const attempt: Action['attempt'] = async (action, meanwhile = '') => {
    if (busy.value) return;
    before.current = document.activeElement as HTMLElement | null;
    busy.value = true;
    message.value = meanwhile;
    try {
      const outcome = await action();
      message.value = typeof outcome === 'string' ? outcome : '';
    } catch (error) {
      message.value = said(error);
    }
    busy.value = false;
  };
  return { message: message.value, busy: busy.value, attempt };
}

/** What a button came to, said where it was pressed, also after its row or its panel has gone, or one has come back. */
export interface Outcome {
  readonly text: string;
  readonly isBad: boolean;
  /** By the clock of this browser. */
  readonly at: number;
}

const outcomes = signal<ReadonlyMap<string, Outcome>>(new Map());
const outcomesMax = 500;
/** Success is said for so long where things go on; a failure until the next try. */
const freshMs = 30_000;
/** As long does what was dealt with stay where the pointer is not. */
const lingersMs = 4_000;

/** `report('session/s1', 'The turn is stopped.')`. The newest of a thing counts. */
export function report(of: string, text: string, isBad = false): void {
  const kept = [...outcomes.value].filter(([name]) => name !== of).slice(1 - outcomesMax);
  outcomes.value = new Map([...kept, [of, { text, isBad, at: Date.now() }]]);
}

export const lingers = (of: string): boolean => Date.now() - (outcomes.value.get(of)?.at ?? 0) < lingersMs;

/** The newest of a thing, however old it is: of a thing that is gone it is the last word. */
export const outcomeOf = (of: string): Outcome | undefined => outcomes.value.get(of);

/** The same while there is still something to say of it. */
export function freshOutcomeOf(of: string): Outcome | undefined {
  const found = outcomes.value.get(of);
  return found === undefined || (!found.isBad && now.value - skewMs.value - found.at > freshMs)
    ? undefined
    : found;
}
