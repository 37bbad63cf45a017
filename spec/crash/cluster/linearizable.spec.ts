import { expect } from 'chai';
import { notLinearizable, type Operation } from './linearizable.js';
import { actsOfFormerOwners, begunTwice, faultsInLog } from './audit.js';

/** A checker that lets everything pass proves nothing: each fault that the campaign looks for is planted here. */
describe('the checker of the cluster’s history', () => {
  const one = (
    what: 'add' | 'read',
    n: number | undefined,
    askedAt: number,
    answeredAt: number,
  ): Operation => ({
    what,
    n,
    askedAt,
    answeredAt,
  });
  const sound = [
    one('add', 1, 0, 5),
    one('add', 3, 6, 20), // took effect behind the next one, while both were asked
    one('add', 2, 7, 21),
    one('read', 2, 8, 19),
    one('read', 3, 22, 23),
  ];

  it('takes answers that overlap in any order that can be', () => {
    expect(notLinearizable(sound)).to.equal(undefined);
  });

  it('takes an addition whose first answer was lost at any moment up to its second', () => {
    const again = [one('add', undefined, 0, 10), one('add', 2, 1, 2), one('read', 2, 9, 10)];
    expect(notLinearizable(again)).to.equal(undefined);
    expect(notLinearizable([...again, one('read', 3, 11, 12)])).to.be.a('string');
  });

  const planted: Readonly<Record<string, readonly Operation[]>> = {
    'a read of what was before': [...sound, one('read', 2, 24, 25)],
    'an acknowledged addition that was lost': [...sound, one('add', 3, 24, 25)],
    'an addition that was done twice': [...sound, one('add', 5, 24, 25), one('read', 5, 26, 27)],
    'a read of what never was': [...sound, one('read', 9, 24, 25)],
    'a read of what comes later': [
      one('read', 1, 0, 1),
      ...sound.map((each) => ({ ...each, askedAt: each.askedAt + 2, answeredAt: each.answeredAt + 2 })),
    ],
    'two owners that count on their own': [...sound, one('add', 4, 24, 25), one('add', 4, 24, 26)],
  };
  for (const [name, history] of Object.entries(planted))
    it(`finds ${name}`, () => {
      expect(notLinearizable(history)).to.be.a('string');
    });

  it('stays quick with many clients of one counter', () => {
    const many = Array.from({ length: 4_000 }, (_, n) => one('add', n + 1, n - 3, n + 0.5));
    expect(notLinearizable(many)).to.equal(undefined);
  });

  const entry = (seq: number, rev: number, epoch: number, prev = seq - 1) => ({
    ...{ seq, rev, prev, kind: 'tally', id: 't1' },
    event: { type: 'add', epoch },
  });
  const log = [entry(1, 1, 1), entry(2, 2, 1), entry(3, 3, 2)];
  it('finds a revision that is missing or comes twice in the log, and an epoch that falls', () => {
    expect(faultsInLog(log)).to.deep.equal([]);
    for (const wrong of [entry(4, 5, 2), entry(4, 3, 2), entry(4, 4, 1), entry(4, 4, 2, 2)])
      expect(faultsInLog([...log, wrong]), JSON.stringify(wrong)).to.have.length(1);
  });

  it('finds an effect that began twice, and lets one begin again that was recovered', () => {
    const began = { what: 'began', key: 'k' } as const;
    expect(begunTwice([began, { what: 'recovered', key: 'k' }, began])).to.deep.equal([]);
    expect(begunTwice([began, { what: 'ended', key: 'k' }, began])).to.have.length(1);
  });

  it('finds what an agent does on a node that another one has followed', () => {
    const owners = [
      { epoch: 1, node: 'one', at: 10 },
      { epoch: 2, node: 'two', at: 20 },
    ];
    expect(
      actsOfFormerOwners(
        [
          { node: 'one', at: 19 },
          { node: 'two', at: 21 },
        ],
        owners,
      ),
    ).to.deep.equal([]);
    expect(actsOfFormerOwners([{ node: 'one', at: 21 }], owners)).to.have.length(1);
  });
});
