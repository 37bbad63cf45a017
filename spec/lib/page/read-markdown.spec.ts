import { expect } from 'chai';
import type { Tokens } from 'marked';
import { readMarkdown } from '../../../lib/page/parts/read-markdown.js';

/**
 * An agent that quoted 40 KB of a minified program held the owner's page for a second, one that quoted 400 KB for
 * forty; three hundred lines of stars for minutes; and ten thousand `>` fit on no stack, so that nothing of the page
 * was drawn any more.
 */
describe('readMarkdown', () => {
  const inlineOf = (text: string, at = 0): readonly { readonly type: string }[] =>
    ((readMarkdown(text) ?? [])[at] as Tokens.Paragraph).tokens;

  it('reads what people and agents write', () => {
    expect(inlineOf('The **quick** `fox` of _x_').map(({ type }) => type)).to.deep.equal([
      ...['text', 'strong', 'text', 'codespan', 'text', 'em'],
    ]);
    const long =
      'The **quick** brown fox and its `den` of old, [here](https://a.example) or fox@den.example.\n'.repeat(
        8,
      );
    const tokens = readMarkdown(`${long}\n`.repeat(500).slice(0, 350_000)) as readonly Tokens.Paragraph[];
    const read = tokens.filter(({ type }) => type === 'paragraph').map((one) => one.tokens.length);
    expect(Math.min(...read.slice(0, -1))).to.be.greaterThan(40);
    expect(readMarkdown(`${'- a\n  '.repeat(10)}- b`)).to.have.length(1);
    expect(readMarkdown(`${'> '.repeat(20)}deep`)).to.have.length(1);
    expect(readMarkdown(`${'-'.repeat(80)}\n\n${'*'.repeat(80)}`)?.map(({ type }) => type)).to.include('hr');
  });

  for (const [what, text] of [
    ['a line of a minified program', 'function a(b,c){return b*c+_d._e}var _f=a(1,2)*3;'.repeat(3_000)],
    ['stars without an end', `${'*a **b '.repeat(3_000)}${'**c* '.repeat(3_000)}c`],
    ['letters that may become an address', `${'a.'.repeat(50_000)}@`],
  ] as const)
    it(`leaves ${what} as it is, and reads what stands around it`, () => {
      const around = `before **it**\n\n${text}\n\nafter _it_`;
      expect(inlineOf(around, 2)).to.deep.equal([{ type: 'text', raw: text, text }]);
      expect(inlineOf(around).map(({ type }) => type)).to.deep.equal(['text', 'strong']);
      expect(inlineOf(around, 4).map(({ type }) => type)).to.deep.equal(['text', 'em']);
    });

  it('shows as it is what is nested deeper than a person would nest it', () => {
    for (const text of [
      ...['>'.repeat(10_000), '> '.repeat(60), '1. '.repeat(5_000), '- > '.repeat(5_000)],
      Array.from({ length: 100 }, (_, n) => `${' '.repeat(n * 2)}- a`).join('\n'),
      `${'**a '.repeat(300)}${' a**'.repeat(300)}`,
      `${'~~a '.repeat(300)}${'a~~ '.repeat(300)}`,
    ])
      expect(readMarkdown(text), text.slice(0, 20)).to.equal(undefined);
  });
});
