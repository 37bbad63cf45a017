import { expect } from 'chai';
import fc from 'fast-check';
import { sortable, sortableText } from '../../machines/sortable.js';

const sign = (a: number | string, b: number | string): number => (a < b ? -1 : a > b ? 1 : 0);
const number = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 1, -1, Infinity, -Infinity, Number.MIN_VALUE, -Number.MIN_VALUE, Number.MAX_VALUE),
);
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('.', '/', '0', '!', '~', 'a', ' ', '-') }),
);

describe('sortable', () => {
  it('orders numbers as numbers, either way round', () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(sign(sortable(a), sortable(b))).to.equal(sign(a, b));
        expect(sign(sortable(a, { descending: true }), sortable(b, { descending: true }))).to.equal(
          sign(b, a),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives 16 hexadecimal digits and refuses what has no place', () => {
    expect(sortable(-0)).to.equal(sortable(0));
    expect(sortable(Date.UTC(2026, 0))).to.match(/^[0-9a-f]{16}$/);
    expect(() => sortable(Number.NaN)).to.throw(RangeError);
  });
});

describe('sortableText', () => {
  it('orders text by code points, in ASCII without a slash, and never gives two texts one place', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [sortableText(a), sortableText(b)];
        expect(sign(x, y)).to.equal(byCodePoint(a, b));
        expect(x)
          .to.match(/^[\x21-\x7e]*$/)
          .and.not.include('/');
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves plain names as they are', () => {
    for (const name of ['ann', 'bob-lead', '__direct__', 'TRP-12', 'in_review', '3f2a-77', 'a@b'])
      expect(sortableText(name)).to.equal(name);
    expect(sortableText('docs/v1.2 é')).to.equal('docs.1v1.02!20~0000e9');
  });
});

function byCodePoint(a: string, b: string): number {
  const [x, y] = [Array.from(a), Array.from(b)];
  for (let place = 0; place < Math.min(x.length, y.length); place += 1) {
    const order = (x[place]?.codePointAt(0) ?? 0) - (y[place]?.codePointAt(0) ?? 0);
    if (order !== 0) return Math.sign(order);
  }
  return Math.sign(x.length - y.length);
}
