import { Lexer, type Token } from 'marked';

/**
 * The tokens of a Markdown text; undefined where it is to be shown as it is.
 *
 * It comes from anyone: an agent, a file, a page that an agent has read. The reader looks through the rest of a
 * paragraph for each marker in it, and a line of a minified program has thousands, so such a paragraph stays as it was
 * written; and what is nested deeper than a person would nest it fits on no stack.
 */
export function readMarkdown(text: string): readonly Token[] | undefined {
  if (text.length > charsMax || tooDeep.test(text)) return undefined;
  const lexer = new Lexer({ gfm: true });
  let effort = effortMax + effortPerChar * text.length;
  try {
    lexer.blockTokens(text.replace(/\r\n?/g, '\n'), lexer.tokens);
    for (const { src, tokens } of lexer.inlineQueue) {
      const needed = effortOf(src);
      if (needed > effort) {
        tokens.push({ type: 'text', raw: src, text: src });
        continue;
      }
      effort -= needed;
      lexer.inlineTokens(src, tokens);
    }
  } catch {
    return undefined; // too deep for the reader itself
  }
  return isDeep(lexer.tokens, depthMax) ? undefined : lexer.tokens;
}

/** In steps of the reader: each marker looks through what follows it, each character of a word for an address in it. */
function effortOf(source: string): number {
  const markers = source.match(/[*_~]/g)?.length ?? 0;
  const words = source.includes('@') ? source.split(/\s+/).filter((word) => word.includes('@')) : [];
  return words.reduce((sum, { length }) => sum + (length * length) / 16, markers * source.length);
}

/** Of texts that nest in each other: what they hold, cells of tables aside, in which nothing does. */
const isDeep = (tokens: readonly Token[], left: number): boolean =>
  left === 0 || tokens.some((token) => isDeep([...held(token, 'tokens'), ...held(token, 'items')], left - 1));

const held = (token: Token, name: 'tokens' | 'items'): readonly Token[] =>
  (token as Partial<Record<typeof name, readonly Token[]>>)[name] ?? [];

/** Beyond this reading it would hold the page up. */
const charsMax = 400_000;
/** A third of a second on a small machine; and what paragraphs ask for that a person writes. */
const effortMax = 3_000_000;
const effortPerChar = 40;
const depthMax = 50;
/** Lines that begin so are seen before the reader goes down into them, which it does once for each step. */
const tooDeep =
  /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){50}|^[ \t]{200,}(?:[-*+]|\d{1,9}[.)])[ \t]/m;
