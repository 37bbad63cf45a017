import { expect } from 'chai';
import fc from 'fast-check';
import { isoTime } from '../../machines/sortable.js';

describe('isoTime', () => {
  it('writes every time as a Date does, though it keeps the date of the day that it wrote last', () => {
    const noon = Date.UTC(2026, 10, 21, 12);
    const times = fc.oneof(
      fc.integer({ min: noon - 2 * 86_400_000, max: noon + 2 * 86_400_000 }),
      fc.integer({ min: -8.64e15, max: 8.64e15 }),
    );
    fc.assert(
      fc.property(fc.array(times, { minLength: 1, maxLength: 20 }), (all) => {
        for (const at of all) expect(isoTime(at)).to.equal(new Date(at).toISOString());
      }),
      { numRuns: 500 },
    );
  });

  it('refuses what is no time', () => {
    for (const at of [NaN, Infinity, 8.64e15 + 1]) expect(() => isoTime(at)).to.throw(RangeError);
  });
});
