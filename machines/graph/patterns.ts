import { RE2JS } from 're2js';
import type { Patterns } from './conditions.js';

/**
 * Patterns for conditions and filters. The engine never backtracks: its time grows with the length of the
 * text times the size of the pattern's program, so both are bounded. What cannot be decided that way
 * (look-around, back references) it does not offer.
 * @example linearPatterns.test('^release-[0-9]+$', 'release-7') // true
 */
export const linearPatterns: Patterns = {
  fault(pattern) {
    const read = compiled(pattern);
    return typeof read === 'string' ? read : undefined;
  },
  test(pattern, text) {
    const read = compiled(pattern);
    return (
      typeof read !== 'string' &&
      read.test(
        text.length > patternLimits.textCharsMax ? text.slice(0, patternLimits.textCharsMax) + more : text,
      )
    );
  },
};

/** Of a longer text only the beginning is looked at. */
export const patternLimits = { textCharsMax: 8_192 } as const;

/**
 * Stands for the rest of a longer text: its cut is no end, or `^[a-z]+$` would hold for any text that begins
 * well.
 */
const more = '\uFFFF';

/** `x{0,1000}` four times is a program of 8,000 steps, and takes seconds on a text of this length. */
const programMax = 400;

/** The same few patterns are asked again and again. A memory only: forgetting changes no answer. */
const known = new Map<string, RE2JS | string>();
const knownMax = 200;

/** The pattern's program, or what is wrong with it. */
function compiled(pattern: string): RE2JS | string {
  const found = known.get(pattern);
  if (found !== undefined) return found;
  const made = compile(pattern);
  if (known.size >= knownMax) known.clear();
  known.set(pattern, made);
  return made;
}

function compile(pattern: string): RE2JS | string {
  try {
    const made = RE2JS.compile(pattern);
    return made.programSize() > programMax ? 'its counted repetitions make it too large' : made;
  } catch (error) {
    return (
      `${error instanceof Error ? error.message : String(error)}; lookaround and back references are not ` +
      'offered: they can take exponential time'
    );
  }
}
