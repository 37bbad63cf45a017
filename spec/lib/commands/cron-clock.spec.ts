import { expect } from 'chai';
import { cronFireKind } from '../../../actors/cron-fire/kind.js';
import { scheduleKind } from '../../../actors/schedule/kind.js';
import type { Launched } from '../../../machines/cron-fire/machine.js';
import type { AtLeastOnceEffect, Kind } from '../../../actors/contracts.js';
import { followClock } from '../../../lib/commands/cron.js';
import { openHouse, seen, type House } from '../../fixtures/house.js';

const yearsMs = Date.UTC(2031, 0, 1) - Date.UTC(2026, 0, 1);
const launch: AtLeastOnceEffect<unknown, Launched> = { guarantee: 'at-least-once', run: async () => ({}) };
const record: AtLeastOnceEffect<unknown, void> = { guarantee: 'at-least-once', run: async () => undefined };
/** Due at nine on the first of the month. The world begins at midnight of the first of January 2026. */
const monthly = {
  name: 'Monthly',
  enabled: true,
  schedule: '0 9 1 * *',
  timezone: 'UTC',
  zone: 'UTC',
  engine: null,
  model: null,
  effortLevel: null,
  employee: null,
  prompt: 'digest',
  delivery: null,
  missed: 'skip',
  managedBy: null,
  workflowId: null,
};

describe('followClock', () => {
  let house: House;
  const faults: unknown[] = [];
  const follow = () =>
    followClock(house, (error) => {
      faults.push(error);
    });
  const next = async () => seen(await house.supervisor.get('schedule', 'm'))['nextRunAt'];
  beforeEach(async () => {
    house = await openHouse([
      scheduleKind() as unknown as Kind,
      cronFireKind({ launch, record }) as unknown as Kind,
    ]); // a list of kinds forgets the type of each one's machine
    await house.supervisor.spawn('schedule', { id: 'm', input: monthly });
  });
  afterEach(async () => {
    expect(faults).to.deep.equal([]);
    expect(house.faults).to.deep.equal([]);
    await house.stop();
  });

  it('brings a job back that ran years ahead with the clock, at once and not at its next alarm a month later', async () => {
    const clock = follow();
    await house.environment.setWall(yearsMs);
    await house.environment.advance(10 * 3_600_000);
    expect(await next()).to.equal('2031-02-01T09:00:00.000Z');
    await house.environment.setWall(-yearsMs);
    await house.environment.advance(20_000);
    expect(await next(), 'it is past ten now').to.equal('2026-02-01T09:00:00.000Z');
    clock.close();
  });

  it('notices at the start what happened while no one was there, and looks no second time', async () => {
    await house.environment.setWall(yearsMs);
    await house.environment.advance(1_000);
    await house.environment.setWall(-yearsMs);
    await house.restart();
    expect(await next()).to.equal('2031-01-01T09:00:00.000Z');
    const first = follow();
    await house.environment.advance(1_000);
    first.close();
    expect(await next()).to.equal('2026-01-01T09:00:00.000Z');
    await house.restart();
    const { position: seq } = house.supervisor.status;
    const clock = follow();
    await house.environment.advance(60_000);
    expect(house.supervisor.status.position).to.equal(seq);
    clock.close();
  });
});
