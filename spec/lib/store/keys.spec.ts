import { expect } from 'chai';
import fc from 'fast-check';
import { keys, part, partsOf, prefix } from '../../../lib/store/keys.js';

describe('keys', () => {
  it('orders numbers by their bytes', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (a, b) => {
        expect(keys.log(a) < keys.log(b)).to.equal(a < b);
        // What comes after the number must not weigh more than the number.
        expect(keys.timer(a, 'x', '1', 't') < keys.timer(b, 'a', '0', 'a')).to.equal(a < b);
      }),
    );
  });

  it('refuses numbers that would break the order', () => {
    for (const bad of [-1, 1.5, NaN, Infinity, 2 ** 53]) expect(() => keys.log(bad)).to.throw(RangeError);
    expect(() => keys.inbox('x', '1', 1, 10_000)).to.throw(RangeError);
  });

  it('keeps any text apart and gives it back, in printable ASCII', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (kind, id) => {
        const key = keys.actor(kind, id);
        expect(key).to.match(/^[!-~]*$/);
        expect(partsOf(key)).to.deep.equal(['a', kind, id]);
      }),
    );
    expect(partsOf(keys.actor('x', '\ud800a/\udc00'))).to.deep.equal(['a', 'x', '\ud800a/\udc00']);
  });

  it('encodes a prefix of a text to a prefix of its encoding', () => {
    expect(part('status/2024')).to.satisfy((text: string) => text.startsWith(part('status/')));
  });

  it('spans exactly what begins with a prefix', () => {
    const range = prefix('c/messages/session/s1/');
    const inside = (key: string): boolean => key >= range.gte && key < range.lt;
    expect(inside(keys.row('messages', 'session', 's1', 0))).to.equal(true);
    expect(inside(keys.row('messages', 'session', 's1', '~~'))).to.equal(true);
    expect(inside(keys.row('messages', 'session', 's10', 0))).to.equal(false);
  });
});
