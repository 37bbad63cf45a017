import { expect } from 'chai';
import { monthOf } from '../../../machines/budget/machine.js';
import { fresh as account, grant, spend } from './beings.js';

const warnings = (life: ReturnType<typeof account>) =>
  life.frames('budget:warning').map(({ payload }) => (payload as { percent: number }).percent);

describe('a budget', () => {
  it('warns at 80 and at 100 per cent, once each', () => {
    const life = account();
    for (const cost of [7.9, 0.1, 1, 1, 5]) life.send(spend(cost));
    expect(warnings(life)).to.deep.equal([80, 100]);
    expect(life.value).to.equal('exceeded');
    expect(life.snapshot.context).to.deep.include({ spentUsd: 15, turns: 5, month: '2026-11', limitUsd: 10 });
    expect(life.rows('months').at(-1)).to.deep.include({
      n: 202611,
      row: { month: '2026-11', spentUsd: 15, turns: 5, grantedUsd: 0, limitUsd: 10 },
    });
  });

  it('gives both warnings where one turn leaps over both', () => {
    const life = account();
    life.send(spend(11));
    expect(warnings(life)).to.deep.equal([80, 100]);
  });

  it('counts without a limit, and never warns then', () => {
    const life = account();
    life.send(spend(1e6, null));
    expect([life.value, warnings(life)]).to.deep.equal(['within', []]);
  });

  it('begins each month, by UTC, at nothing, and warns again', () => {
    const life = account();
    life.send(spend(10));
    life.at = Date.UTC(2026, 11, 1) - 1;
    life.send(spend(1));
    expect(life.snapshot.context.spentUsd).to.equal(11);
    life.at += 1;
    life.send(spend(9));
    expect([life.snapshot.context.month, life.snapshot.context.spentUsd, life.value]).to.deep.equal([
      '2026-12',
      9,
      'warned',
    ]);
    expect(warnings(life)).to.deep.equal([80, 100, 80]);
    expect(life.rows('months').map(({ n }) => n)).to.include.members([202611, 202612]);
  });

  it('begins each month in the time zone of the company', () => {
    const zone = (timeZone: string, costUsd: number) => ({
      ...spend(costUsd),
      facts: { limitUsd: 10, timeZone },
    });
    const life = account();
    life.at = Date.UTC(2026, 9, 31, 22, 59);
    expect(monthOf(life.at, 'Europe/Berlin')).to.deep.equal({
      month: '2026-10',
      endsAt: Date.UTC(2026, 9, 31, 23), // after the end of summer time
    });
    life.at = Date.UTC(2026, 10, 30, 22, 59);
    life.send(zone('Europe/Berlin', 4));
    life.at += 60_000;
    life.send(zone('Europe/Berlin', 1));
    expect(life.snapshot.context).to.include({ month: '2026-12', spentUsd: 1, timeZone: 'Europe/Berlin' });
    expect(monthOf(life.at, 'America/Los_Angeles').month).to.equal('2026-11');
    // A zone or a clock that is set back: November's row would begin again at zero
    life.send(zone('America/Los_Angeles', 2));
    expect(life.snapshot.context).to.include({ month: '2026-12', spentUsd: 3 });
    const november = life.rows('months').filter(({ n }) => n === 202611);
    expect(november.at(-1)?.row).to.include({ spentUsd: 4 });
  });

  it('is not exceeded any more when a person grants more, for this month only', () => {
    const life = account();
    life.send(spend(10));
    expect(life.send(grant(5))).to.equal(undefined);
    expect([life.value, life.snapshot.context.grantedUsd]).to.deep.equal(['within', 5]);
    life.at = monthOf(life.at).endsAt;
    life.send(spend(10));
    expect([life.value, life.snapshot.context.grantedUsd]).to.deep.equal(['exceeded', 0]);
  });

  it('takes costs from the gateway only and money from people only, and refuses what is no sum', () => {
    const life = account();
    const agent = { type: 'session', id: 's', employee: 'ann', ancestors: [] } as const;
    expect(life.send({ ...spend(1), by: agent })?.code).to.equal('FORBIDDEN');
    expect(life.send({ type: 'spend.noted', costUsd: 1 })?.code).to.equal('FORBIDDEN');
    expect(life.send({ ...grant(1), by: agent })?.code).to.equal('PERSON_REQUIRED');
    for (const usd of [0, -1, NaN, Infinity, 1e9])
      expect(life.send(grant(usd))?.code, String(usd)).to.equal('BAD_REQUEST');
    for (const usd of [-1, NaN, Infinity])
      expect(life.send(spend(usd))?.code, String(usd)).to.equal('BAD_REQUEST');
    expect(life.snapshot.context).to.deep.include({ spentUsd: 0, grantedUsd: 0 });
  });
});
