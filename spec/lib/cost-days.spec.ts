import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dayOf, forecastOf } from '../../lib/page/forecast.js';
import { testEnvironment } from '../../lib/testing/test-environment.js';
import { openHouse, poll, type House } from './gateway/fixture.js';

/**
 * Days of costs are those of the company, as the months of its budgets are: at the end of a month the forecast said one
 * thing, and the budgets beside it another.
 */
describe('days of costs', () => {
  let house: House;
  let home: string;
  before(async () => (home = await mkdtemp(join(tmpdir(), 'cost-days-'))));
  after(() => rm(home, { recursive: true, force: true }));
  afterEach(() => house.close());

  const dayIn = async (timeZone: string): Promise<unknown> => {
    const environment = testEnvironment({ startAt: Date.UTC(2026, 10, 30, 16) });
    const settings = {
      home,
      sessionRoots: [home],
      interruptOnNewMessage: true,
      turnDeadlineMs: 60_000,
      timeZone,
    };
    house = await openHouse({ environment, settings });
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'x' })).body;
    await poll(
      () => house.operator.get(`/api/sessions/${id}`),
      ({ body }) => body.status === 'idle',
    );
    const { body } = await house.operator.get('/api/cost/report?groupBy=day');
    return [body.timeZone, body.groups.map(({ key }: { key: string }) => key)];
  };

  it('begin at midnight of portal.timeZone', async () => {
    expect(await dayIn('Asia/Tokyo')).to.deep.equal(['Asia/Tokyo', ['2026-12-01']]);
  });

  it('begin earlier and later elsewhere', async () => {
    expect(await dayIn('America/New_York')).to.deep.equal(['America/New_York', ['2026-11-30']]);
  });
});

describe('the forecast of a month', () => {
  const at = Date.UTC(2026, 10, 30, 16);

  it('is of the month that has begun there', () => {
    expect(dayOf(at, 'Asia/Tokyo')).to.equal('2026-12-01');
    expect(dayOf(at, 'UTC')).to.equal('2026-11-30');
    expect(dayOf(at, 'Mars/Olympus')).to.equal('2026-11-30');
    const days = [
      { day: '2026-11-30', usd: 6 },
      { day: '2026-12-01', usd: 1 },
    ];
    // 3.5 a day in the last two, and thirty days to come
    expect(forecastOf(days, '2026-12-01')).to.deep.equal({
      spentUsd: 1,
      usdPerDay: 3.5,
      endUsd: 1 + 30 * 3.5,
    });
    expect(forecastOf(days, '2026-11-30')).to.deep.equal({ spentUsd: 6, usdPerDay: 6, endUsd: 6 });
  });
});
