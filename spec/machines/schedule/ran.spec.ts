import { expect } from 'chai';
import fc from 'fast-check';
import { countNotRun, newestNotRun, nextNotRun, withRun, type Ran } from '../../../machines/schedule/ran.js';

const hourMs = 3_600_000;
const hourly = ['0 * * * *', 'UTC'] as const;

describe('the stretches that a job has run', () => {
  it('hold every instant that ran, in order and apart, however many there are: at most 32', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 9 })), {
          minLength: 1,
          maxLength: 120,
        }),
        (spans) => {
          let ran: Ran = [];
          for (const [from, length] of spans)
            ran = withRun(ran, from * hourMs, (from + length) * hourMs, NaN);
          expect(ran.length).to.be.at.most(32);
          for (const [from, length] of spans) {
            for (let at = from; at <= from + length; at += 1)
              expect(nextNotRun(...hourly, at * hourMs - 1, ran), String(at)).to.be.greaterThan(at * hourMs);
          }
          for (const [at, [from, to]] of ran.entries()) {
            expect(to).to.be.at.least(from);
            if (at > 0) expect(from).to.be.greaterThan(ran[at - 1]?.[1] ?? Infinity);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('are joined where they lie nearest when there would be more', () => {
    let ran: Ran = [];
    for (let n = 0; n < 200; n += 1) ran = withRun(ran, n * 10 * hourMs, (n * 10 + 1) * hourMs, NaN);
    expect(ran).to.have.length(32);
    ran = withRun(ran, 5_000 * hourMs, 5_001 * hourMs, NaN);
    expect([ran.length, ran.at(-1)]).to.deep.equal([32, [5_000 * hourMs, 5_001 * hourMs]]);
  });

  it('go on where everything in between has run, and begin again where something was missed', () => {
    const ran = withRun([], 1 * hourMs, 1.5 * hourMs, 0);
    expect(withRun(ran, 2 * hourMs, 2.5 * hourMs, 1.5 * hourMs)).to.deep.equal([[hourMs, 2.5 * hourMs]]);
    expect(withRun(ran, 4 * hourMs, 4.5 * hourMs, NaN)).to.deep.equal([
      [hourMs, 1.5 * hourMs],
      [4 * hourMs, 4.5 * hourMs],
    ]);
  });

  it('are left out when instants are counted and listed', () => {
    const ran: Ran = [
      [3 * hourMs, 5.5 * hourMs],
      [8 * hourMs, 100 * hourMs],
    ];
    expect(countNotRun(...hourly, 0, 10 * hourMs, ran)).to.equal(4);
    expect(newestNotRun(...hourly, 0, 10 * hourMs, ran, 9).map((at) => at / hourMs)).to.deep.equal([
      1, 2, 6, 7,
    ]);
    expect(newestNotRun(...hourly, 0, 102 * hourMs, ran, 3).map((at) => at / hourMs)).to.deep.equal([
      7, 101, 102,
    ]);
    expect(nextNotRun(...hourly, 2 * hourMs, ran)).to.equal(6 * hourMs);
  });
});
