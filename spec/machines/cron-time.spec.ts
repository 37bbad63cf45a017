import { expect } from 'chai';
import fc from 'fast-check';
import { nextAfter, scheduleFault } from '../../machines/cron-time.js';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * The nights on which clocks are changed, and the hour of it, in zones that do it differently (Lord Howe: by
 * half an hour; Santiago: at midnight).
 */
const nights: readonly (readonly [zone: string, day: string])[] = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['America/Santiago', '2026-09-06'],
  ['America/Santiago', '2026-04-05'],
  ['Africa/Casablanca', '2026-02-15'],
  ['Africa/Casablanca', '2026-03-22'],
];

/**
 * Said a second time, by counting minutes: every minute of three days, what the clock shows, and the first
 * time that it shows it.
 */
function expected(
  zone: string,
  from: number,
  minutes: readonly number[],
  hours: readonly number[],
): number[] {
  const shown = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  const wall = (at: number): number => Date.parse(`${shown.format(at).replace(' ', 'T')}:00Z`);
  const matches = (at: number): boolean =>
    minutes.includes(new Date(at).getUTCMinutes()) && hours.includes(new Date(at).getUTCHours());
  const seen = new Set<number>();
  const fires: number[] = [];
  let before = wall(from - minuteMs);
  for (let at = from; at < from + 3 * dayMs; at += minuteMs) {
    const now = wall(at);
    let due = false;
    // Leapt over: right after
    for (let leapt = before + minuteMs; leapt < now; leapt += minuteMs) if (matches(leapt)) due = true;
    if (matches(now) && !seen.has(now)) due = true;
    seen.add(now);
    if (due) fires.push(at);
    before = now;
  }
  return fires;
}

describe('nextAfter', () => {
  const list = (max: number) => fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 4 });

  for (const [zone, day] of nights) {
    it(`runs every local time once around the night of ${day} in ${zone}`, () => {
      const from = Date.parse(`${day}T00:00:00Z`) - dayMs;
      fc.assert(
        fc.property(
          list(59),
          fc.oneof(list(23), list(3), fc.constant(Array.from({ length: 24 }, (_, n) => n))),
          (minutes, hours) => {
            const schedule = `${minutes.join()} ${hours.length === 24 ? '*' : hours.join()} * * *`;
            const fires: number[] = [];
            for (
              let at = nextAfter(schedule, zone, from - 1);
              at !== null && at < from + 3 * dayMs;
              at = nextAfter(schedule, zone, at)
            )
              fires.push(at);
            expect(
              fires.map((at) => new Date(at).toISOString()),
              schedule,
            ).to.deep.equal(expected(zone, from, minutes, hours).map((at) => new Date(at).toISOString()));
          },
        ),
        { numRuns: 25 },
      );
    });
  }

  it('is always later than the time asked about, whatever second of it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('* * * * *', '*/7 2 * * *', '0 0 1 * *', '30 1 * * 0'),
        fc.constantFrom(...nights.map(([zone]) => zone)),
        fc.integer({ min: 0, max: Date.UTC(2099, 0) }),
        (schedule, zone, after) => {
          const next = nextAfter(schedule, zone, after);
          expect(next).to.be.greaterThan(after);
          expect((next ?? 1) % minuteMs).to.equal(0);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('goes on beyond the second of January 2038 at which 32 bits of seconds end', () => {
    expect(nextAfter('14 3 19 1 *', 'UTC', Date.UTC(2038, 0, 19, 3, 13))).to.equal(
      Date.UTC(2038, 0, 19, 3, 14),
    );
    expect(nextAfter('0 0 1 1 *', 'Europe/Berlin', Date.UTC(2038, 0, 20))).to.equal(
      Date.UTC(2038, 11, 31, 23),
    );
  });

  it('knows leap days', () => {
    expect(nextAfter('0 12 29 2 *', 'UTC', Date.UTC(2026, 0))).to.equal(Date.UTC(2028, 1, 29, 12));
  });
});

describe('scheduleFault', () => {
  it('takes five fields and a zone', () => {
    for (const schedule of ['0 * * * *', '*/5 9-17 * * 1-5', '0 9 1,15 * *', '0 9 * JAN,JUL MON'])
      expect(scheduleFault(schedule, 'Europe/Berlin'), schedule).to.equal(undefined);
  });

  it('refuses what is none, and a time that never comes', () => {
    for (const schedule of [
      '',
      'soon',
      '* * * *',
      '* * * * * *',
      '60 * * * *',
      '@daily',
      '0 0 30 2 *',
      '*'.repeat(500),
    ])
      expect(scheduleFault(schedule, 'UTC')?.path, schedule).to.equal('schedule');
    for (const zone of ['Mars/Base', '', 'Europe/Berlin; DROP', '../etc', '+01:00'])
      expect(scheduleFault('0 * * * *', zone)?.path, zone).to.equal('timezone');
  });
});
