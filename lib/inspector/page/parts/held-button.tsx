import { signal } from '@preact/signals';
import { report } from '../../../page/action.js';
import { said } from '../../../page/ask.js';
import { now, span } from '../../../page/clock.js';

/**
 * A button for what nothing takes back: it is carried out five seconds after it was pressed, also when one has gone to
 * another view by then, unless it is undone. Who closes the page before is asked by the browser, and a page that
 * stood still meanwhile carries nothing out. What it came to is reported under `of`.
 */
export function HeldButton({
  of,
  word,
  action,
  disabled = false,
  quiet = false,
}: {
  readonly of: string;
  readonly word: string;
  /** Reports what it came to. */
  readonly action: () => Promise<unknown>;
  readonly disabled?: boolean;
  readonly quiet?: boolean;
}) {
  const isHeld = held.value.get(of);
  void now.value; // counted down each second
  if (isHeld === undefined || isHeld.word !== word)
    return (
      <button
        type="button"
        class={quiet ? 'quiet' : ''}
        disabled={disabled || isHeld !== undefined}
        onClick={() => hold(of, word, action)}
      >
        {word}
      </button>
    );
  return (
    <span class="decide" data-held>
      <span class="num">
        {word} in {span(isHeld.at - Date.now() + 999)}
      </span>
      <button type="button" onClick={() => release(of)}>
        Undo
      </button>
    </span>
  );
}

/** Whether something of this is about to be carried out: `isHolding('d1 5')`. */
export const isHolding = (of: string): boolean => held.value.has(of);

const held = signal<
  ReadonlyMap<string, { readonly word: string; readonly at: number; readonly timer: number }>
>(new Map());

function hold(of: string, word: string, action: () => Promise<unknown>): void {
  const at = Date.now() + holdMs;
  const timer = window.setTimeout(() => {
    release(of);
    // Of what a person pressed before the machine slept no one thinks when it wakes
    if (Date.now() > at + lateMs)
      return report(of, `Not done: ${word}. The page stood still meanwhile.`, true);
    action().catch((error: unknown) => report(of, said(error), true));
  }, holdMs);
  held.value = new Map(held.value).set(of, { word, at, timer });
  window.addEventListener('beforeunload', askBeforeLeaving);
}

function release(of: string): void {
  clearTimeout(held.value.get(of)?.timer);
  const left = new Map(held.value);
  left.delete(of);
  held.value = left;
  if (left.size === 0) window.removeEventListener('beforeunload', askBeforeLeaving);
}

/** It would not be carried out. */
const askBeforeLeaving = (event: BeforeUnloadEvent): void => event.preventDefault();

const holdMs = 5_000;
const lateMs = 10_000;
