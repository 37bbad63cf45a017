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
