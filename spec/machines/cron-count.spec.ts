import { expect } from 'chai';
import fc from 'fast-check';
import { countWithin, newestWithin } from '../../machines/cron-count.js';
import { nextAfter } from '../../machines/cron-time.js';

const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Africa/Casablanca',
  'Pacific/Apia',
  'UTC',
] as const;
const dayMs = 86_400_000;

function oneByOne(schedule: string, zone: string, after: number, until: number): number[] {
  const all: number[] = [];
  for (
    let at = nextAfter(schedule, zone, after);
    at !== null && at <= until;
    at = nextAfter(schedule, zone, at)
  )
    all.push(at);
  return all;
}

describe('countWithin', () => {
  it('counts as one would by going through them, over nights on which clocks change', () => {
    const schedules = [
      '0 * * * *',
      '30 2 * * *',
      '*/20 1,2,3 * * *',
      '0 0 * * *',
      '59 23 * * 1-5',
      '15,45 0-3 1,15,29 * *',
      '0 12 29 2 *',
      '5 1 * * 0',
      '*/7 0 * 3,10,11 6#1',
      '0 6 L * *',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...schedules),
        fc.constantFrom(...zones),
        fc.integer({ min: Date.UTC(2009, 0), max: Date.UTC(2039, 0) }),
        fc.integer({ min: 0, max: 500 * dayMs }),
        (schedule, zone, after, span) => {
          const all = oneByOne(schedule, zone, after, after + span);
          expect(
            countWithin(schedule, zone, after, after + span),
            `${schedule} ${zone} ${after} ${span}`,
          ).to.equal(all.length);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('has the ends right: not the instant it begins with, but the one it ends with', () => {
    const at = (day: number): number => Date.UTC(2026, 5, day, 9);
    expect(countWithin('0 9 * * *', 'UTC', at(1), at(20))).to.equal(19);
    expect(countWithin('0 9 * * *', 'UTC', at(1) - 1, at(20) - 1)).to.equal(19);
    expect(countWithin('0 9 * * *', 'UTC', at(1), at(1))).to.equal(0);
  });

  it('tells the minutes of twelve years without going through them', () => {
    const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2038, 0, 19)];
    expect(countWithin('* * * * *', 'UTC', from, to)).to.equal((to - from) / 60_000);
    // a night of autumn runs its doubled hour once, and one of spring runs its lost hour as one: an hour less
    // each
    expect(countWithin('* * * * *', 'Europe/Berlin', from, to)).to.equal((to - from) / 60_000 - 12 * 60);
  });
});

describe('newestWithin', () => {
  it('tells the newest, at least as many as are asked for where there are so many', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('* * * * *', '0 * * * *', '30 2 * * *', '0 12 29 2 *'),
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 30 * dayMs }),
        fc.integer({ min: 1, max: 60 }),
        (schedule, zone, span, count) => {
          const after = Date.UTC(2026, 9, 10);
          const all = oneByOne(schedule, zone, after, after + span);
          const newest = newestWithin(schedule, zone, after, after + span, count);
          expect(newest).to.deep.equal(newest.length === 0 ? [] : all.slice(-newest.length));
          expect(newest.length).to.be.at.least(Math.min(count, all.length));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is bounded, whatever the stretch', () => {
    for (const schedule of ['* * * * *', '* * 1 1 *', '* * 29 2 *'])
      expect(
        newestWithin(schedule, 'Europe/Berlin', Date.UTC(2026, 0), Date.UTC(2090, 0), 49).length,
        schedule,
      ).to.be.within(49, 3_000);
  });
});
