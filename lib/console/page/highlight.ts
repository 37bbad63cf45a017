import type { Emitter } from 'highlight.js';
import core from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import go from 'highlight.js/lib/languages/go';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/**
 * Code in pieces, each with what it is. Fetched when the first code is on the screen. Of highlight.js only its
 * reader is used: what it would write is HTML as text, which the page's policy takes nowhere.
 */
export interface Piece {
  readonly text: string;
  readonly tone: Tone | undefined;
}

/** The class of the page's style; there are no other colours. */
export type Tone = 'keyword' | 'string' | 'number' | 'comment' | 'name' | 'type';

/** `highlight('const a = 1', 'ts')`; undefined for a language that is not known here. */
export function highlight(text: string, language: string): readonly Piece[] | undefined {
  if (reader.getLanguage(language) === undefined) return undefined;
  const { _emitter: said, errorRaised } = reader.highlight(text, { language, ignoreIllegals: true });
  // Where its reader stumbles a part of the text is not there
  return said instanceof Pieces && errorRaised === undefined ? said.pieces : undefined;
}

/** Takes what the reader finds: one level of pieces, where a page would nest. */
class Pieces implements Emitter {
  readonly pieces: Piece[] = [];
  private readonly tones: (Tone | undefined)[] = [];

  openNode(scope: string): void {
    const tone = toneOf(scope);
    this.tones.push(tone === 'inherit' ? this.tones.at(-1) : tone);
  }

  closeNode(): void {
    this.tones.pop();
  }

  /** Its reader calls both by both names. */
  readonly startScope = this.openNode;
  readonly endScope = this.closeNode;

  addText(text: string): void {
    this.add({ text, tone: this.tones.at(-1) });
  }

  /** A language inside of another: the style of a page, the code in a text. */
  __addSublanguage(inner: Emitter): void {
    if (!(inner instanceof Pieces)) return;
    for (const { text, tone = this.tones.at(-1) } of inner.pieces) this.add({ text, tone });
  }

  finalize(): void {
    this.tones.length = 0;
  }

  toHTML(): string {
    return '';
  }

  private add({ text, tone }: Piece): void {
    const last = this.pieces.at(-1);
    if (last?.tone === tone && last !== undefined)
      this.pieces[this.pieces.length - 1] = { text: last.text + text, tone };
    else if (text !== '') this.pieces.push({ text, tone });
  }
}

function toneOf(scope: string): Tone | undefined | 'inherit' {
  if (scope.startsWith('title.class')) return 'type';
  const [name = ''] = scope.split('.', 1);
  return name === 'subst' ? undefined : (tones.get(name) ?? 'inherit');
}

/** By the names of highlight.js. `subst` is none of them: it is code again, inside of a text. */
const tones: ReadonlyMap<string, Tone> = new Map(
  Object.entries({
    keyword: ['keyword', 'selector-tag', 'meta', 'bullet', 'operator'],
    string: ['string', 'regexp', 'char', 'addition', 'code', 'quote', 'link'],
    number: ['number', 'literal', 'symbol', 'deletion'],
    comment: ['comment', 'doctag'],
    name: ['title', 'name', 'section', 'selector-id', 'selector-class', 'selector-pseudo', 'template-tag'],
    type: ['type', 'built_in', 'attr', 'attribute', 'selector-attr', 'template-variable', 'property'],
  } satisfies Record<Tone, readonly string[]>).flatMap(([tone, names]) =>
    names.map((name): [string, Tone] => [name, tone as Tone]),
  ),
);

const reader = core.newInstance();
reader.configure({ __emitter: Pieces });
const languages = { bash, css, go, json, markdown, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) reader.registerLanguage(name, language);
// One reads both, at half the size of two
reader.registerAliases(['javascript', 'js', 'jsx', 'mjs', 'cjs'], { languageName: 'typescript' });
reader.registerAliases(['shell', 'console'], { languageName: 'bash' });
