/**
 * What is shown of a document that was found: its title, and the words around the first match, matches
 * between « and ».
 */

/** The first heading, else the file's name. */
export function titleOf(text: string, path: string): string {
  const heading = /^#{1,6}[ \t]+([^\n\r]{1,300})/m
    .exec(text.slice(0, 20_000))?.[1]
    ?.replace(/[ \t]#+[ \t]*$/, '')
    .trim();
  return heading || (path.split('/').at(-1) ?? path).replace(/\.(?:md|markdown)$/i, '');
}

/** At most 300 characters: some twelve words on each side of the first match. */
export function snippetOf(text: string, fragments: readonly string[]): string {
  const pattern = new RegExp(
    fragments.map((fragment) => fragment.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'),
    'giu',
  );
  const first = pattern.exec(text);
  const at = first?.index ?? 0;
  const before = wordsOf(text.slice(Math.max(0, at - 400), at))
    .slice(-12)
    .join(' ')
    .slice(-120);
  const after = wordsOf(text.slice(at, at + 600))
    .slice(0, 13)
    .join(' ')
    .slice(0, 150);
  const glued = at > 0 && !/\s/.test(text[at - 1] ?? ' '); // a match in the middle of a word
  const plain = whole(before === '' ? after : `${before}${glued ? '' : ' '}${after}`);
  return whole(plain.replace(pattern, '«$&»').slice(0, snippetCharsMax));
}

/** Without halves of letters at its ends. */
const whole = (text: string): string => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');

const snippetCharsMax = 300;
const wordsOf = (text: string): readonly string[] => text.split(/\s+/u).filter((word) => word !== '');
