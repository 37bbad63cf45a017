import { expect } from 'chai';
import { linearPatterns, patternLimits } from '../../../machines/graph/patterns.js';

describe('linearPatterns', () => {
  const { fault, test } = linearPatterns;

  it('finds a pattern anywhere in a text, and only where it says so at its ends', () => {
    expect([
      test('b+', 'abbc'),
      test('^b', 'abbc'),
      test('^a.*c$', 'abbc'),
      test('(?i)BB', 'abbc'),
      test('ü', 'über'),
    ]).to.deep.equal([true, false, true, true, true]);
  });

  it('says what is wrong with a pattern, and lets it hold for nothing', () => {
    for (const pattern of ['(', '[', 'a{2,1}', '(?=a)', '(?<!a)b', '(a)\\1']) {
      expect(fault(pattern), pattern).to.be.a('string');
      expect(test(pattern, 'aa'), pattern).to.equal(false);
    }
    expect([fault('^v[0-9]{1,3}$'), fault('')]).to.deep.equal([undefined, undefined]);
  });

  // Linear is not yet fast: four counted repetitions of a thousand took two seconds on four thousand
  // characters, during which nothing else was answered.
  it('refuses patterns that are linear but too large', () => {
    for (const pattern of ['.{0,1000}', '(.{0,30}){0,33}', '(.{0,1000}[ab]){0,1}'.repeat(20)])
      expect(fault(pattern), pattern).to.equal('its counted repetitions make it too large');
    expect(fault('[a-z]{1,64}-[0-9]{1,64}')).to.equal(undefined);
  });

  it('looks at the beginning of a long text', () => {
    const { textCharsMax } = patternLimits;
    expect([
      test('z$', `${'a'.repeat(textCharsMax - 1)}z`),
      test('z', `${'a'.repeat(textCharsMax)}z`),
    ]).to.deep.equal([true, false]);
  });

  // The cut passed for the end once: whatever began well got through a filter for whole texts by being long
  // enough.
  it('takes the cut for no end of the text', () => {
    const { textCharsMax } = patternLimits;
    for (const end of ['$', '\\z'])
      expect(
        [
          test(`^[a-z]+${end}`, 'a'.repeat(textCharsMax)),
          test(`^[a-z]+${end}`, `${'a'.repeat(textCharsMax)}; rm`),
        ],
        end,
      ).to.deep.equal([true, false]);
  });
});
