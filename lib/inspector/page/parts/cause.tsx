import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/**
 * Why something stands where it stands, or what is asked of a person: the beginning of a long text with a way to all of
 * it, never a part that looks like the whole. Beneath it what one has to know beside.
 */
export function Cause({
  text,
  isCode = false,
  isBad = false,
  children,
}: {
  readonly text: string;
  readonly isCode?: boolean;
  readonly isBad?: boolean;
  readonly children?: ComponentChildren;
}) {
  const isOpen = useSignal(false);
  const beginning = beginningOf(text);
  const shown = isOpen.value ? text : beginning;
  return (
    <div class="cause">
      <p class={isBad ? 'bad' : ''}>
        {isCode && text !== '' ? <code>{shown}</code> : shown}
        {beginning !== text && (
          <>
            {!isOpen.value && ' … '}
            <button
              type="button"
              class="quiet"
              aria-expanded={isOpen.value}
              onClick={() => {
                isOpen.value = !isOpen.value;
              }}
            >
              {isOpen.value ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
            </button>
          </>
        )}
      </p>
      {children !== undefined && <div class="cause-facts">{children}</div>}
    </div>
  );
}

/** A few lines: by what the text is and not by how it is drawn, so that nothing can hide behind a narrow window. */
function beginningOf(text: string): string {
  const lines = text.split('\n').slice(0, 4).join('\n');
  const cut = lines.length > charsMax ? lines.slice(0, charsMax) : lines;
  return cut.length < text.trimEnd().length ? cut : text;
}

const charsMax = 240;

/**
 * What a machine threw, in plain words: `plainly("Unable to evaluate guard 'a' …:\nthe cup is cracked")` answers
 * `the cup is cracked`. The words of the library say where in a program it was, and nothing to the person who has
 * to repair it.
 */
export function plainly(thrown: string): string {
  for (const [words, plain] of sayings) if (words.test(thrown)) return thrown.replace(words, plain);
  return thrown;
}

const sayings: readonly (readonly [words: RegExp, plain: string])[] = [
  [/Unable to evaluate guard (?:'[^']*' )?in transition for event '[^']*' in state node '[^']*':\n/, ''],
  [/Guard '([^']*)' is not \w+\.'?\.?/, 'The kind has no program for its condition “$1”.'],
  [/Infinite loop detected: [^]*/, 'It went on from state to state and never came to rest.'],
];

/** The words themselves, behind what was said plainly. */
export function AsThrown({ thrown }: { readonly thrown: string }) {
  if (plainly(thrown) === thrown) return null;
  return (
    <details class="as-thrown">
      <summary>As it was thrown</summary>
      <pre>{thrown}</pre>
    </details>
  );
}
