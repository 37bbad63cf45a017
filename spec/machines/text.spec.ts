import { expect } from 'chai';
import fc from 'fast-check';
import { jsonBytes } from '../../machines/text.js';

describe('jsonBytes', () => {
  it('counts what JSON takes in UTF-8, pairs, halves of pairs and control characters included', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }),
        (text, units) => {
          const value = { text, halves: String.fromCharCode(...units) };
          expect(jsonBytes(value)).to.equal(Buffer.byteLength(JSON.stringify(value)));
        },
      ),
    );
  });
});
