import { expect } from 'chai';
import { runLine } from '../../../machines/cron-fire/machine.js';
import { fresh } from './beings.js';

const ended = (outcome: string, text = '', error: string | null = null) => ({
  type: 'work.ended',
  sessionId: 's1',
  outcome,
  text,
  error,
  by: { type: 'system', part: 'session:s1' } as const,
});
const line = (life: ReturnType<typeof fresh>) => runLine(life.snapshot.context);

describe('a run of a cron job', () => {
  it('is on record before anything is launched', () => {
    const life = fresh();
    expect(life.rows('record').at(-1)?.row).to.deep.include({
      sessionKey: 'cron:daily:2026-06-01T09:00:00.000Z',
      status: 'started',
    });
    expect(life.effects.get('launch')?.input).to.deep.include({
      fireId: 'cron:daily:2026-06-01T09:00:00.000Z',
      jobId: 'daily',
    });
  });

  it('tells the result where the job says, and writes how long it took', () => {
    const life = fresh();
    life.finish('launch', { sessionId: 's1', workItemId: 'TRP-1' });
    life.at += 61_000;
    life.send(ended('succeeded', 'Gold was found.'));
    expect(line(life)).to.deep.include({
      status: 'success',
      durationMs: 61_000,
      sessionId: 's1',
      workItemId: 'TRP-1',
      resultPreview: 'Gold was found.',
      error: null,
    });
    const [told] = life.tells('delivery.request');
    expect(told).to.deep.include({ to: { kind: 'connector', id: 'chat' } });
    expect(told?.event).to.deep.include({ channel: 'general', text: 'Gold was found.' });
    expect(String(told?.event['deliveryId']).length).to.be.at.most(64);
    life.finish('record', undefined);
    expect(life.value).to.equal('ended');
  });

  it('names its delivery after all of its own name: of two jobs whose names end alike one result passed for the other', () => {
    const named = (begin: string) => {
      const life = fresh({
        id: `cron:${begin}-nightly-regression-report-for-the-northern-office:2026-06-01T09:00:00.000Z`,
      });
      life.finish('launch', { sessionId: 's1' });
      life.send(ended('succeeded', 'Done.'));
      return String(life.tells('delivery.request')[0]?.event['deliveryId']);
    };
    expect([
      named('alpha') === named('alpha'),
      named('alpha') === named('beta'),
      named('alpha').length,
    ]).to.deep.equal([true, false, 64]);
  });

  it('is an error, not a success, when it could not begin or its work failed', () => {
    const late = fresh();
    late.fail('launch', 'Unknown employee "eve".');
    expect(line(late)).to.deep.include({ status: 'error', error: 'Unknown employee "eve".' });
    expect(late.tells('delivery.request')[0]?.event['text']).to.equal('Daily: Unknown employee "eve".');
    for (const [outcome, status] of [
      ['failed', 'error'],
      ['interrupted', 'interrupted'],
    ] as const) {
      const life = fresh();
      life.finish('launch', { sessionId: 's1' });
      life.send(ended(outcome, '', 'why'));
      expect(line(life)).to.deep.include({ status, error: 'why' });
    }
  });

  it('that was missed launches nothing and tells no one, but is on record', () => {
    const life = fresh({ missed: 'Its time went by.' });
    expect([...life.effects.keys()]).to.deep.equal(['record']);
    expect(line(life)).to.deep.include({ status: 'missed', error: 'Its time went by.', durationMs: 0 });
    expect(life.tells('delivery.request')).to.deep.equal([]);
  });

  it('hears of work that ends before its launch is known', () => {
    const life = fresh();
    life.send(ended('succeeded', 'quick'));
    expect(line(life)).to.deep.include({ status: 'success', sessionId: 's1' });
  });
});
