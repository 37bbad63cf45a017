import { expect } from 'chai';
import fc from 'fast-check';
import { atOnce, WordIndex } from '../../../../lib/records/knowledge/word-index.js';
import { countWords, fragmentsOf } from '../../../../lib/records/knowledge/words.js';

const counted = (text: string): Map<string, number> => {
  const counts = new Map<string, number>();
  countWords(text, counts);
  return counts;
};

describe('the index of words', () => {
  it('finds documents that hold all fragments, most matches first, then by path', () => {
    const index = new WordIndex();
    index.put('b', counted('Green tea, green cup'));
    index.put('a', counted('green teapot'));
    index.put('c', counted('green coffee'));
    const paths = (question: string) =>
      index.find(fragmentsOf(question), 20).map(({ path, matchCount }) => `${path} ${matchCount}`);
    expect(paths('TEA green')).to.deep.equal(['b 3', 'a 2']);
    expect(paths('eapo')).to.deep.equal(['a 1']);
    expect(paths('green')).to.deep.equal(['b 2', 'a 1', 'c 1']);
    expect(paths('green milk')).to.deep.equal([]);
    expect(paths('e')).to.deep.equal([]); // one letter is a word of its own
    index.put('b', counted('milk'));
    index.remove('a');
    expect([paths('tea'), paths('milk'), index.size, index.struck]).to.deep.equal([[], ['b 1'], 2, 2]);
  });

  // the arena chains slices of growing size: every length of list crosses other borders
  it('says the same as looking at every document, whatever they hold and however long the lists are', () => {
    const word = fc.constantFrom(
      'tea',
      'teapot',
      'green',
      'greenhouse',
      'cup',
      'cupboard',
      'Tea_Time',
      'über',
      '茶',
    );
    const texts = fc.array(fc.array(word, { maxLength: 12 }), { minLength: 1, maxLength: 400 });
    const question = fc.array(
      fc.constantFrom('tea', 'green', 'cup', 'board', 'house', 'üb', '茶', 'pot', 'none'),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(texts, question, (documents, asked) => {
        const index = new WordIndex();
        const fragments = fragmentsOf(asked.join(' '));
        const expected: { path: string; matchCount: number }[] = [];
        documents.forEach((words, place) => {
          const path = `d${String(place).padStart(4, '0')}`;
          index.put(path, counted(words.join(' ')));
          const sums = fragments.map(
            (fragment) =>
              words.filter((one) =>
                fragment.length === 1
                  ? one.toLowerCase() === fragment
                  : fragment.length === 2
                    ? one.toLowerCase().startsWith(fragment)
                    : one.toLowerCase().includes(fragment),
              ).length,
          );
          if (sums.every((sum) => sum > 0))
            expected.push({ path, matchCount: sums.reduce((one, other) => one + other, 0) });
        });
        expected.sort((one, other) => other.matchCount - one.matchCount || (one.path < other.path ? -1 : 1));
        expect(index.find(fragments, 20)).to.deep.equal(expected.slice(0, 20));
      }),
      { numRuns: 60 },
    );
  });

  it('keeps lists whole over many slices and large distances', () => {
    const index = new WordIndex();
    for (let n = 0; n < 30_000; n += 1)
      index.put(
        `d${n}`,
        new Map(
          n % 97 === 0
            ? [
                ['rare', 300],
                ['all', 1],
              ]
            : [['all', 1]],
        ),
      );
    expect(index.find(['rare'], 1_000)).to.have.length(Math.ceil(30_000 / 97));
    expect(index.find(['rare', 'all'], 1)[0]?.matchCount).to.equal(301);
    expect(index.find(['all'], 40_000)).to.have.length(30_000);
  });

  it('says the same after it was compacted, and knows no more words than it needs', () => {
    const index = new WordIndex();
    for (let n = 0; n < 5_000; n += 1)
      index.put(`d${n % 1_000}`, counted(`all ${'often '.repeat(n % 300)} w${n}`));
    for (let n = 0; n < 1_000; n += 3) index.remove(`d${n}`);
    const fresh = atOnce(index.compacted());
    for (const question of ['all', 'often', 'w49', 'ofte all', 'w1', 'none'])
      expect(fresh.find(fragmentsOf(question), 50), question).to.deep.equal(
        index.find(fragmentsOf(question), 50),
      );
    expect([fresh.size, fresh.struck]).to.deep.equal([index.size, 0]);
    expect(fresh.words).to.equal(666 + 2);
    fresh.put('d1', counted('later')); // and goes on from there
    expect(fresh.find(['later'], 5)).to.deep.equal([{ path: 'd1', matchCount: 1 }]);
  });

  it('bounds the work of a fragment that stands in very many words, and cuts the same way whatever came first', () => {
    const words = Array.from({ length: 4_000 }, (_, n) => `amid${n}`);
    const [one, other] = [words, [...words].reverse()].map((order) => {
      const index = new WordIndex();
      for (let n = 0; n < 150; n += 1)
        index.put(`d${String(n).padStart(3, '0')}`, new Map(order.map((word) => [word, 1])));
      return index.find(['mid'], 20);
    });
    expect(one).to.deep.equal(other);
    expect(one?.[0]?.matchCount).to.equal(2_000); // 300,000 entries of 600,000
  });
});
