import { expect } from 'chai';
import { perMinute, perMinuteEach } from '../../../lib/gateway/limiter.js';

describe('limits per minute', () => {
  it('let so many through in any minute, and say when to come again', () => {
    let now = 0;
    const limiter = perMinute(2, () => now);
    expect([limiter.take(), limiter.take(), limiter.take()]).to.deep.equal([undefined, undefined, 60_000]);
    now = 59_999;
    expect([limiter.take(), limiter.idle()]).to.deep.equal([60_000, false]);
    now = 60_000;
    expect([limiter.idle(), limiter.take(), limiter.idle()]).to.deep.equal([true, undefined, false]);
  });

  it('hold each one and all together: who takes too much takes it from no one else', () => {
    let now = 0;
    const limiter = perMinuteEach({ each: 3, all: 5 }, () => now);
    const taken = (who: string, times: number) =>
      Array.from({ length: times }, () => limiter.take(who) === undefined);
    expect(taken('greedy', 6)).to.deep.equal([true, true, true, false, false, false]);
    expect(taken('modest', 3)).to.deep.equal([true, true, false]); // five of all
    now = 60_000;
    expect(taken('greedy', 1)).to.deep.equal([true]);
  });

  it('forget who was not there for a minute, and give the thousands beyond a share in common', () => {
    let now = 0;
    const limiter = perMinuteEach({ each: 1, all: 100_000 }, () => now);
    const group = (count: number) =>
      Array.from({ length: count }, (_, n) => limiter.take(`10.0.${n >> 8}.${n & 255}`)).filter(
        (wait) => wait === undefined,
      ).length;
    expect(group(5_000)).to.equal(1_001);
    now = 60_000;
    expect(group(5_000)).to.equal(1_001);
  });
});
