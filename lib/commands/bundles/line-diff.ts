/**
 * The difference of two texts as one hunk: what they begin and end with alike is left out, but for a line or two
 * beside it. Enough to read what an import would change.
 * @example lineDiff('a\nb\nc', 'a\nx\nc') // [' a', '-b', '+x', ' c']
 */
export function lineDiff(before: string, after: string): readonly string[] {
  const old = linesOf(before);
  const fresh = linesOf(after);
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const marked = (mark: string, lines: readonly string[]) => lines.map((line) => `${mark}${line}`);
  return [
    ...marked(' ', old.slice(Math.max(0, head - contextLines), head)),
    ...marked('-', old.slice(head, old.length - tail)),
    ...marked('+', fresh.slice(head, fresh.length - tail)),
    ...marked(' ', old.slice(old.length - tail, old.length - tail + contextLines)),
  ];
}

const contextLines = 2;
const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
