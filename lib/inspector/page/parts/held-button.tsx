import { signal } from '@preact/signals';
import { access } from '../../../page/access.js';
import { report } from '../../../page/action.js';
import { said } from '../../../page/ask.js';
import { now, span } from '../../../page/clock.js';

/**
 * A button for what nothing takes back: it is carried out five seconds after it was pressed, also when one has gone to
 * another view by then, unless it is undone. Who closes the page before, or forgets the token, has it carried out at
 * once: there is no undo any more, and who comes next sends nothing of it. A page that stood still meanwhile carries
 * nothing out. What it came to is reported under `of`.
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
  /** Reports what it came to. Its request is made at once, and with `keepalive`: the page may be about to go. */
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

interface Held {
  readonly word: string;
  readonly at: number;
  readonly timer: number;
  readonly action: () => Promise<unknown>;
}
const held = signal<ReadonlyMap<string, Held>>(new Map());

function hold(of: string, word: string, action: () => Promise<unknown>): void {
  const at = Date.now() + holdMs;
  const timer = window.setTimeout(() => carryOut(of), holdMs);
  held.value = new Map(held.value).set(of, { word, at, timer, action });
  window.addEventListener('pagehide', carryOutAll);
}

function carryOut(of: string): void {
  const one = held.value.get(of);
  release(of);
  if (one === undefined) return;
  // Of what a person pressed before the machine slept no one thinks when it wakes
  if (Date.now() > one.at + lateMs)
    return report(of, `Not done: ${one.word}. The page stood still meanwhile.`, true);
  one.action().catch((error: unknown) => report(of, said(error), true));
}

const carryOutAll = (): void => [...held.value.keys()].forEach(carryOut);

function release(of: string): void {
  clearTimeout(held.value.get(of)?.timer);
  const left = new Map(held.value);
  left.delete(of);
  held.value = left;
  if (left.size === 0) window.removeEventListener('pagehide', carryOutAll);
}

access.subscribe(carryOutAll);

const holdMs = 5_000;
const lateMs = 10_000;
