import type { Token, Tokens } from 'marked';
import type { Guide } from './guides.js';

/** A guide as plain text for a terminal: wrapped, code indented, wide tables as lists. */
export async function textOfGuide(guide: Guide): Promise<string> {
  const { lexer } = await import('marked');
  return blocks(lexer(guide.text)).join('\n\n');
}

const columnsMax = 96;

function blocks(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token) => {
    switch (token.type) {
      case 'space':
      case 'html': // marks for the script that makes a part of the guide
        return [];
      case 'heading':
        return [underlined(inline(token), (token as Tokens.Heading).depth)];
      case 'code':
        return [indented((token as Tokens.Code).text, '    ')];
      case 'list':
        return [list(token as Tokens.List)];
      case 'table':
        return [table(token as Tokens.Table)];
      case 'blockquote':
        return [indented(blocks((token as Tokens.Blockquote).tokens).join('\n\n'), '  | ')];
      default:
        return [wrapped(inline(token).replaceAll('\n', ' '))];
    }
  });
}

const underlined = (text: string, depth: number): string =>
  depth === 1 ? text.toUpperCase() : `${text}\n${(depth === 2 ? '=' : '-').repeat(text.length)}`;

const list = ({ items, ordered }: Tokens.List): string =>
  items
    .map((item, index) => {
      const mark = ordered ? `${index + 1}. ` : '- ';
      const text = blocks(item.tokens.filter(({ type }) => type !== 'checkbox')).join('\n');
      return `${mark}${indented(wrapped(text), ' '.repeat(mark.length)).trimStart()}`;
    })
    .join('\n');

/** Aligned where it fits the terminal, otherwise each row as a short list. */
function table({ header, rows }: Tokens.Table): string {
  const all = [header, ...rows].map((cells) => cells.map((cell) => inline(cell)));
  const widths = header.map((_, at) => Math.max(...all.map((cells) => (cells[at] ?? '').length)));
  if (widths.reduce((sum, width) => sum + width + 2, 0) <= columnsMax)
    return all
      .map((cells) =>
        cells
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd(),
      )
      .join('\n');
  const [heads = [], ...below] = all;
  return below
    .map(([first = '', ...others]) => {
      const rest = others.map((cell, at) => (others.length === 1 ? cell : `${heads[at + 1] ?? ''}: ${cell}`));
      return [first, ...rest.map((cell) => indented(wrapped(cell, 4), '    '))].join('\n');
    })
    .join('\n');
}

/** The text of whatever stands in a line. */
function inline(token: Token | Tokens.TableCell): string {
  if (!('type' in token)) return token.tokens.map(inline).join('');
  if (token.type === 'codespan') return `\`${token.text as string}\``;
  if (token.type === 'br') return '\n';
  const inner =
    'tokens' in token && token.tokens !== undefined ? token.tokens.map(inline).join('') : undefined;
  if (token.type === 'link') return linked(token as Tokens.Link, inner ?? '');
  return unescaped(inner ?? ('text' in token ? String(token.text) : token.raw));
}

/** A link to a guide is its words; where its topic is another word, that is said. */
function linked({ href }: Tokens.Link, text: string): string {
  const name = /^([a-z-]+)\.md/.exec(href)?.[1];
  if (name !== undefined) return text.toLowerCase() === name ? text : `${text} (troupe help ${name})`;
  return href.startsWith('https:') && href !== text ? `${text} (${href})` : text;
}

/** The lexer leaves entities of its own in texts. */
const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const indented = (text: string, by: string): string => text.replace(/^(?=.)/gm, by);

function wrapped(text: string, less = 0): string {
  return text
    .split('\n')
    .map((line) =>
      line.replace(new RegExp(`(?=.{${columnsMax - less + 1}})(.{1,${columnsMax - less}}) `, 'g'), '$1\n'),
    )
    .join('\n');
}
