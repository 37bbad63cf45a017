import { expect } from 'chai';
import fc from 'fast-check';
import { isoTime } from '../../../machines/sortable.js';
import { nextAfter } from '../../../machines/cron-time.js';
import { limits } from '../../../machines/schedule/context.js';
import { fresh, fires, run, type Job } from './beings.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const system = { type: 'system', part: 'timers' } as const;

/** The day before a night on which clocks change, for both nights of the year. */
const nights = [
  ['Europe/Berlin', '2026-03-28'],
  ['Europe/Berlin', '2026-10-24'],
  ['America/New_York', '2026-03-07'],
  ['America/New_York', '2026-10-31'],
  ['Australia/Lord_Howe', '2026-10-03'],
  ['Australia/Lord_Howe', '2026-04-04'],
  ['America/Santiago', '2026-09-05'],
  ['America/Santiago', '2026-04-04'],
  ['Africa/Casablanca', '2026-02-14'],
  ['Africa/Casablanca', '2026-03-21'],
] as const;

/**
 * A job and the clocks around it: waits pass whatever the wall shows; they follow it forward and never back,
 * as the gateway's do.
 */
class Clocks {
  readonly ran = new Set<number>();
  doneUntil: number;
  missed = 0;

  constructor(
    readonly job: Job,
    readonly instants: readonly number[],
    readonly policy: string,
  ) {
    this.doneUntil = job.at;
  }

  /** Time passes and the gateway is there. */
  pass(ms: number): void {
    this.until(this.job.at + ms);
  }
  /** Time passes, or is set forward, and no one hears an alarm before the end of it. */
  leap(ms: number): void {
    this.job.at += ms;
    this.job.revive();
    this.until(this.job.at);
  }
  back(ms: number, { noticed }: { readonly noticed: boolean }): void {
    this.job.at -= ms;
    for (const [id, timer] of this.job.timers) this.job.timers.set(id, { ...timer, due: timer.due - ms });
    if (noticed) this.due();
    this.until(this.job.at);
  }

  private until(end: number): void {
    for (
      let due = this.job.timers.get('due')?.due ?? Infinity;
      due <= end;
      due = this.job.timers.get('due')?.due ?? Infinity
    ) {
      this.job.at = Math.max(this.job.at, due);
      this.job.timers.delete('due');
      this.due();
    }
    this.job.at = Math.max(this.job.at, end);
  }

  /**
   * The alarm, and a second opinion of what must follow from it, by sets and by going through all instants.
   */
  private due(): void {
    const { job, policy } = this;
    const at = job.at;
    const before = fires(job).length;
    job.step({ type: 'job.due', at, by: system } as { type: string });
    const begun = fires(job)
      .slice(before)
      .filter(({ missed }) => missed === null)
      .map(({ dueAt }) => dueAt);
    for (const id of [...job.effects.keys()]) job.finish(id, run());
    const due = this.instants.filter(
      (instant) => instant > this.doneUntil && instant <= at && !this.ran.has(instant),
    );
    if (due.length === 0) {
      if (at < this.doneUntil) this.doneUntil = at - limits.graceMs;
      expect(begun.map(isoTime)).to.deep.equal([]);
      return;
    }
    const last = due.at(-1) as number;
    const onTime = at - last <= limits.graceMs;
    const late = onTime ? due.slice(0, -1) : due;
    const caught = policy === 'all' ? late.slice(-24) : policy === 'once' && !onTime ? late.slice(-1) : [];
    const runs = [...caught, ...(onTime ? [last] : [])].slice(0, 10);
    expect(begun.map(isoTime), `${policy} at ${isoTime(at)}`).to.deep.equal(runs.map(isoTime));
    for (const instant of runs) this.ran.add(instant);
    this.missed += due.length - runs.length;
    this.doneUntil = at;
    expect(job.snapshot.context.missedFires, `missed by ${isoTime(at)}`).to.equal(this.missed);
  }
}

const lists = new Map<string, readonly number[]>();
function instantsOf(schedule: string, zone: string): readonly number[] {
  const name = `${schedule} ${zone}`;
  let list = lists.get(name);
  if (list === undefined) {
    const all: number[] = [];
    for (
      let at = nextAfter(schedule, zone, Date.UTC(2026, 0, 10));
      at !== null && at < Date.UTC(2038, 2, 1);
      at = nextAfter(schedule, zone, at)
    )
      all.push(at);
    lists.set(name, (list = all));
  }
  return list;
}

type Step = readonly [what: 'pass' | 'away' | 'back' | 'noticed' | 'ahead' | 'to 2038 and back', ms: number];
const someSteps: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant('pass' as const), fc.integer({ min: 1, max: 40 * hourMs })),
  fc.tuple(fc.constant('away' as const), fc.integer({ min: 1, max: 100 * hourMs })),
  fc.tuple(
    fc.constantFrom('back' as const, 'noticed' as const),
    fc.oneof(fc.constant(2 * hourMs), fc.integer({ min: 3_000, max: 30 * hourMs })),
  ),
  fc.tuple(fc.constant('ahead' as const), fc.constant(dayMs)),
  fc.tuple(fc.constant('to 2038 and back' as const), fc.integer({ min: 0, max: 3 * hourMs })),
);

function take(clocks: Clocks, [what, ms]: Step): void {
  switch (what) {
    case 'pass':
      return clocks.pass(ms);
    case 'away':
    case 'ahead':
      return clocks.leap(ms);
    case 'back':
      return clocks.back(ms, { noticed: false });
    case 'noticed':
      return clocks.back(ms, { noticed: true });
    case 'to 2038 and back': {
      const years = Date.UTC(2038, 0, 19, 3, 14, 7) - clocks.job.at;
      if (years < dayMs) return;
      clocks.leap(years);
      clocks.pass(ms);
      clocks.back(years, { noticed: true });
    }
  }
}

describe('a cron job, whatever clocks do', () => {
  for (const [zone, eve] of nights) {
    it(`runs no instant twice and misses what its policy says, around the night after ${eve} in ${zone}`, function () {
      this.timeout(180_000);
      fc.assert(
        fc.property(
          fc.constantFrom('30 2 * * *', '0 0 * * *', '15 1,2,3 * * *'),
          fc.constantFrom('skip', 'once', 'all'),
          fc.array(someSteps, { minLength: 1, maxLength: 10 }),
          (schedule, missed, steps) => {
            const job = fresh({ schedule, zone, timezone: zone, missed, at: Date.parse(`${eve}T03:00:30Z`) });
            job.at = Date.parse(`${eve}T03:00:30Z`);
            const instants = instantsOf(schedule, zone);
            const clocks = new Clocks(job, instants, missed);
            for (const step of steps) take(clocks, step);
            // and then the clock goes right again: nothing that is to come is left out
            clocks.back(3_000, { noticed: true });
            const from = job.at;
            clocks.pass(3 * dayMs);
            for (const instant of instants)
              if (instant > from && instant <= job.at)
                expect(clocks.ran.has(instant), `${isoTime(instant)} has run`).to.equal(true);

            const all = fires(job);
            expect(new Set(all.map(({ id }) => id)).size, 'two of one name').to.equal(all.length);
            const began = all.filter(({ missed: why }) => why === null).map(({ dueAt }) => dueAt);
            expect(new Set(began).size, 'an instant that ran twice').to.equal(began.length);
            const known = new Set(instants);
            for (const { dueAt } of all) expect(known.has(dueAt), isoTime(dueAt)).to.equal(true);
            expect(job.timers.has('due'), 'an alarm').to.equal(true);
            expect(job.json.length).to.be.lessThan(8_192);
          },
        ),
        { numRuns: 40 },
      );
    });
  }

  it('goes on at the next instant when the clock ran years ahead and came back: it once stood still until then', () => {
    const job = fresh({ schedule: '0 * * * *' });
    const clocks = new Clocks(job, instantsOf('0 * * * *', 'UTC'), 'skip');
    const years = Date.UTC(2031, 0, 1, 0, 30) - job.at;
    clocks.leap(years);
    clocks.pass(2 * hourMs);
    clocks.back(years, { noticed: false });
    clocks.pass(6 * hourMs);
    const began = fires(job)
      .filter(({ missed }) => missed === null)
      .map(({ dueAt }) => isoTime(dueAt));
    expect(began.slice(0, 2)).to.deep.equal(['2031-01-01T01:00:00.000Z', '2031-01-01T02:00:00.000Z']);
    // its alarm was to ring within the hour; from then on it is back
    expect(began.slice(2))
      .to.deep.equal(
        ['11', '12', '13', '14', '15', '16']
          .map((hour) => `2026-06-01T${hour}:00:00.000Z`)
          .slice(-began.length + 2),
      )
      .and.have.length.at.least(5);
  });

  it('runs what it had only on record as missed, under a second name, when that comes again', () => {
    const job = fresh();
    const clocks = new Clocks(job, instantsOf('0 9 * * *', 'UTC'), 'skip');
    clocks.leap(2 * dayMs);
    clocks.back(2 * dayMs, { noticed: true });
    clocks.pass(2 * hourMs);
    expect(fires(job).map(({ id, missed }) => [id, missed === null])).to.deep.equal([
      ['cron:daily:2026-06-01T09:00:00.000Z', false],
      ['cron:daily:2026-06-02T09:00:00.000Z', false],
      ['cron:daily:2026-06-01T09:00:00.000Z~1', true],
    ]);
  });

  it('leaves out what it has run when the clock is set back by two hours, and no more than that', () => {
    const job = fresh({ schedule: '0 * * * *' });
    const clocks = new Clocks(job, instantsOf('0 * * * *', 'UTC'), 'skip');
    clocks.pass(3 * hourMs); // 9, 10, 11
    clocks.back(2 * hourMs, { noticed: true }); // 9:00:30 once more
    clocks.pass(3 * hourMs);
    expect(fires(job).map(({ id }) => id.slice(22, 24))).to.deep.equal(['09', '10', '11', '12']);
  });
});
