import type * as Library from 'marked';
import type { Marked, Tokens } from 'marked';
import { allGuides, type Guide } from './guides.js';

/**
 * Guides as pages for a browser. The Markdown is ours, and still nothing of it is trusted: raw HTML and images
 * are shown as text, links lead to other guides or to https, and the page runs no script.
 */
export async function pageOfGuide(guide: Guide): Promise<string> {
  const marked = await renderer();
  return pageOf(guide.title, guide.name, marked.parse(guide.text, { async: false }));
}

/** The table of contents: every guide with its first sentence. */
export function pageOfContents(): string {
  const entries = allGuides().map(
    ({ name, title, about }) =>
      `<dt><a href="/docs/${name}">${escaped(title)}</a></dt><dd>${escaped(plain(about))}</dd>`,
  );
  return pageOf('Guides', undefined, `<h1>Guides</h1>\n<dl>\n${entries.join('\n')}\n</dl>`);
}

/** `[effects](effects.md)` without its target and marks, for a place that shows plain text. */
export const plain = (text: string): string =>
  text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');

function pageOf(title: string, current: string | undefined, content: string): string {
  const links = allGuides().map(
    ({ name, title: of }) =>
      `<li><a href="/docs/${name}"${name === current ? ' aria-current="page"' : ''}>${escaped(of)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)} – Troupe</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<nav aria-label="Guides">
<p><a href="/docs">Troupe</a></p>
<ul>
${links.join('\n')}
</ul>
</nav>
<main>
${content}
</main>
</body>
</html>
`;
}

let made: Promise<Marked> | undefined;

/** The library is loaded for the first guide: most gateways are never asked for one. */
const renderer = (): Promise<Marked> => (made ??= import('marked').then((library) => rendererOf(library)));

function rendererOf(library: typeof Library): Marked {
  const marked = new library.Marked({ gfm: true });
  marked.use({
    renderer: {
      html: ({ text }) => escaped(text),
      image: ({ text }) => escaped(text),
      link({ href, tokens }) {
        const target = targetOf(href);
        const text = this.parser.parseInline(tokens);
        return target === undefined ? text : `<a href="${escaped(target)}">${text}</a>`;
      },
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}\n</code></pre>\n`,
      table(token: Tokens.Table) {
        const cell = (tag: string, { tokens }: Tokens.TableCell): string =>
          `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
        const row = (tag: string, cells: readonly Tokens.TableCell[]): string =>
          `<tr>${cells.map((one) => cell(tag, one)).join('')}</tr>`;
        const body = token.rows.map((cells) => row('td', cells)).join('\n');
        // Wide tables scroll within their own box, by keyboard too.
        return (
          `<div class="table" tabindex="0"><table>\n<thead>${row('th', token.header)}</thead>\n<tbody>\n` +
          `${body}\n</tbody>\n</table></div>\n`
        );
      },
    },
  });
  return marked;
}

/** Where a link of a guide leads; undefined for what a page does not lead to. */
function targetOf(href: string): string | undefined {
  if (/^https:\/\/[\w.-]+(?:\/[\w./#?=&%~@-]*)?$/.test(href) || /^#[\w-]+$/.test(href)) return href;
  const [, name, anchor = ''] = /^([a-z-]+)\.md(#[\w-]+)?$/.exec(href) ?? [];
  return name === undefined ? undefined : `/docs/${name}${anchor}`;
}

/** As code hosts make them: `Never lost` → `never-lost`. */
export const idOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

const marks: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (mark) => marks[mark] ?? '');
