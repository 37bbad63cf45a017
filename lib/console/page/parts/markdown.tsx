import type { Token, Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { Code } from './code.js';
import { readMarkdown } from '../../../page/parts/read-markdown.js';

/**
 * Markdown as nodes: what an agent wrote is never markup of ours. HTML in it is shown as the text that it is,
 * pictures from elsewhere become links, and links lead only to http, https and mailto.
 */
export function Markdown({ text }: { readonly text: string }) {
  // While it streams only what comes after the last finished paragraph is read again
  const settled = settledLength(text);
  const before = useMemo(() => nodesOf(text.slice(0, settled)), [text.slice(0, settled)]);
  const after = useMemo(() => nodesOf(text.slice(settled)), [text.slice(settled)]);
  return (
    <div class="prose">
      {before}
      {after}
    </div>
  );
}

/** Up to the last empty line that is not inside of a block of code; none in a short text. */
function settledLength(text: string): number {
  if (text.length < 4_000) return 0;
  const at = text.lastIndexOf('\n\n');
  if (at < 0) return 0;
  const fences = text.slice(0, at).match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0;
  return fences % 2 === 0 ? at : 0;
}

function nodesOf(text: string): ComponentChildren {
  const tokens = readMarkdown(text);
  return tokens === undefined ? <pre class="plain">{text}</pre> : blocks(tokens);
}

const blocks = (tokens: readonly Token[]): ComponentChildren =>
  tokens.map((token, n) => <Block key={n} token={token} />);

function Block({ token }: { readonly token: Token }) {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'hr':
      return <hr />;
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading;
      // Below the view's own headings, whatever the agent chose
      return (
        <p class={`heading-${Math.min(depth, 4)}`} role="heading" aria-level={Math.min(6, depth + 2)}>
          {inline(tokens)}
        </p>
      );
    }
    case 'code': {
      const { text, lang } = token as Tokens.Code;
      return <Code text={text} language={lang?.split(/\s/)[0] ?? ''} />;
    }
    case 'blockquote':
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens)}</blockquote>;
    case 'list': {
      const { ordered, start, items } = token as Tokens.List;
      const entries = items.map((item, n) => (
        <li key={n} class={item.task ? 'task' : undefined}>
          {item.task && (
            <span role="img" aria-label={item.checked ? 'done' : 'open'}>
              {item.checked ? '☑ ' : '☐ '}
            </span>
          )}
          {blocks(item.tokens)}
        </li>
      ));
      return ordered ? <ol start={start === '' ? 1 : start}>{entries}</ol> : <ul>{entries}</ul>;
    }
    case 'table':
      return <Table token={token as Tokens.Table} />;
    case 'paragraph':
      return <p>{inline((token as Tokens.Paragraph).tokens)}</p>;
    case 'text': {
      const { tokens, text } = token as Tokens.Text;
      return <>{tokens === undefined ? plain(text) : inline(tokens)}</>;
    }
    case 'html':
      return <p>{token.raw}</p>;
    default:
      return <>{token.raw}</>;
  }
}

function Table({ token: { header, rows, align } }: { readonly token: Tokens.Table }) {
  const aligned = (n: number) => ({ textAlign: align[n] ?? 'left' });
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, n) => (
              <th key={n} scope="col" style={aligned(n)}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, n) => (
            <tr key={n}>
              {row.map((cell, column) => (
                <td key={column} style={aligned(column)}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const inline = (tokens: readonly Token[]): ComponentChildren =>
  tokens.map((token, n) => <Inline key={n} token={token} />);

function Inline({ token }: { readonly token: Token }) {
  switch (token.type) {
    case 'strong':
      return <strong>{inline((token as Tokens.Strong).tokens)}</strong>;
    case 'em':
      return <em>{inline((token as Tokens.Em).tokens)}</em>;
    case 'del':
      return <del>{inline((token as Tokens.Del).tokens)}</del>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'br':
      return <br />;
    case 'escape':
      return <>{(token as Tokens.Escape).text}</>;
    case 'link': {
      const { href, tokens } = token as Tokens.Link;
      return <Link href={href}>{inline(tokens)}</Link>;
    }
    case 'image': {
      const { href, text } = token as Tokens.Image;
      return <Link href={href}>{text === '' ? href : text}</Link>;
    }
    case 'text': {
      const { tokens, text } = token as Tokens.Text;
      return <>{tokens === undefined ? plain(text) : inline(tokens)}</>;
    }
    default:
      return <>{token.raw}</>;
  }
}

function Link({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  if (!/^(?:https?:|mailto:)/i.test(href) || !URL.canParse(href)) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {children}
    </a>
  );
}

/** The few entities that agents write though nothing asks for them. */
const plain = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_whole, name: string) => entities[name] ?? '');
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
