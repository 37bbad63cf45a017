import { expect } from 'chai';
import { keptRows, type Kept } from '../../../lib/page/parts/kept-rows.js';

/** Rows moved up under the pointer, and the next click met another one. */
describe('keptRows', () => {
  const keyOf = (item: string): string => item;
  const shown = (rows: readonly Kept<string>[]): readonly string[] =>
    rows.map(({ key, isGone }) => (isGone ? `(${key})` : key));
  const all = keptRows([], ['a', 'b', 'c'], keyOf, { isHeld: false, lingers: () => false });

  it('keeps what went in its place and puts what came to the end while the pointer is over the list', () => {
    const held = { isHeld: true, lingers: () => false };
    const rows = keptRows(all, ['new', 'a', 'c'], keyOf, held);
    expect(shown(rows)).to.deep.equal(['a', '(b)', 'c', 'new']);
    expect(shown(keptRows(rows, ['new', 'newer', 'c'], keyOf, held))).to.deep.equal([
      '(a)',
      '(b)',
      'c',
      'new',
      'newer',
    ]);
    expect(shown(keptRows(rows, ['b', 'a'], keyOf, held)), 'one that comes back').to.deep.equal([
      'a',
      'b',
      '(c)',
      '(new)',
    ]);
  });

  it('keeps what was dealt with while its outcome is shown, after the pointer has left', () => {
    const lingers = (key: string): boolean => key === 'b';
    const rows = keptRows(all, ['new', 'c'], keyOf, { isHeld: false, lingers });
    expect(shown(rows)).to.deep.equal(['new', '(b)', 'c']);
    expect(shown(keptRows(rows, ['new', 'c'], keyOf, { isHeld: false, lingers: () => false }))).to.deep.equal(
      ['new', 'c'],
    );
    expect(shown(keptRows(all, [], keyOf, { isHeld: false, lingers }))).to.deep.equal(['(b)']);
  });
});
