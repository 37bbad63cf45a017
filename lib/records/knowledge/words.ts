/**
 * Text → words, the same way for documents and questions: letters, digits and underscores in a row, in lower
 * case. Long runs (scripts without spaces, hashes) are cut into pieces, so that no word is longer than
 * `wordCharsMax`.
 */
export const wordCharsMax = 40;

/** Adds how often each word stands in the text: `countWords('Tea, tea!', counts)` → `tea` 2. */
export function countWords(text: string, counts: Map<string, number>): void {
  for (const [run] of text.matchAll(runs)) {
    const word = run.toLowerCase();
    for (let at = 0; at < word.length; at += wordCharsMax) {
      const piece = word.slice(at, at + wordCharsMax);
      counts.set(piece, (counts.get(piece) ?? 0) + 1);
    }
  }
}

/**
 * The fragments that a question asks for, each once: `fragmentsOf('Green-tea green')` → `['green', 'tea']`.
 */
export function fragmentsOf(question: string): readonly string[] {
  return [
    ...new Set(
      [...question.normalize('NFC').matchAll(runs)].map(([run]) => run.toLowerCase().slice(0, wordCharsMax)),
    ),
  ];
}

const runs = /[\p{L}\p{N}\p{M}_]+/gu;
