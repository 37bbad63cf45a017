import { expect } from 'chai';
import type { Caller } from '../../../machines/caller.js';
import type { NoticeInput } from '../../../machines/notifier/context.js';
import { fresh, held, over, thing, type Courier } from './beings.js';

/** A notifier alone: what is sent, when, and what is not. */
describe('a notifier', () => {
  const arrived = { outcome: 'sent', messageId: 'm1' };
  const failed = { outcome: 'failed', reason: 'no route' };
  const jobs = (life: Courier) => life.started.map(({ input }) => input as NoticeInput);
  const contextOf = ({ snapshot: { context } }: Courier) => context;

  it('sends nothing of what is decided before it is due', () => {
    const life = fresh();
    life.send(held(thing()));
    life.advance(29_999);
    life.send(over(1));
    life.advance(60_000);
    expect([life.started, life.value, contextOf(life).notices]).to.deep.equal([[], 'idle', []]);
  });

  // An hour back, and people were asked an hour later: the timer rang, and by the clock it was too early
  it('asks in time though the clock is set back while something is held', () => {
    const life = fresh();
    life.send(held(thing()));
    const hour = 3_600_000;
    life.at -= hour;
    for (const [id, timer] of life.timers) life.timers.set(id, { ...timer, due: timer.due - hour });
    life.advance(29_999);
    expect(life.started).to.have.length(0);
    life.advance(1);
    expect(life.started).to.have.length(1);
  });

  it('says one thing by itself, more than three together, and then how they ended', () => {
    const life = fresh();
    life.send(held(...['a', 'b', 'c', 'd'].map((id) => thing(id, { delayMs: 0 }))));
    life.finish('message', arrived);
    life.send(over(2));
    life.finish('message', arrived);
    life.send(over(1, 3, 4));
    life.finish('message', arrived);
    expect(jobs(life).map(({ key, job }) => [key, job.notices.length, job.ended.length])).to.deep.equal([
      ['team:1.1.send', 4, 0],
      ['team:1.1.edit-1', 4, 1],
      ['team:1.1.edit-4', 4, 4],
    ]);
    expect(contextOf(life)).to.deep.include({ notices: [], sent: 1 });
  });

  it('sends under the same key after a crash and after each failure, with growing pauses', () => {
    const life = fresh();
    life.send(held(thing('a', { delayMs: 0 })));
    life.revive();
    life.finish('message', failed);
    life.advance(999);
    expect(life.value).to.equal('pausing');
    life.advance(1);
    life.fail('message', 'cut');
    life.advance(2_000);
    life.finish('message', arrived);
    expect(new Set(jobs(life).map(({ key }) => key))).to.deep.equal(new Set(['team:1.1.send']));
    expect(contextOf(life)).to.deep.include({ failures: 0, failingSince: null, sent: 1 });
  });

  // An old question that arrives after the answer sends a person to look for nothing
  it('lets go of a failed message once nothing in it waits any more', () => {
    const life = fresh();
    life.send(held(thing('a', { delayMs: 0 })));
    life.finish('message', failed);
    life.send(over(1));
    life.advance(600_000);
    expect([life.started.length, life.value, contextOf(life).notices]).to.deep.equal([1, 'idle', []]);
  });

  // A message that someone deleted there made its destination look broken, and kept its closed notices for good
  it('gives up an edit after five attempts, and says nothing of the destination by that', () => {
    const life = fresh();
    life.send(held(...['a', 'b', 'c', 'd'].map((id) => thing(id, { delayMs: 0 }))));
    life.finish('message', arrived);
    life.send(over(1));
    life.finish('message', arrived);
    life.send(over(2, 3, 4));
    for (let attempt = 0; attempt < 5; attempt += 1) {
      life.finish('message', failed);
      life.wait();
    }
    expect(contextOf(life)).to.deep.include({ failures: 0, failingSince: null, notices: [] });
    expect(life.value).to.equal('idle');
  });

  it('takes what waits from the gateway alone; agents do not hurry it', () => {
    const life = fresh();
    const agent: Caller = { type: 'session', id: 's1', employee: null, ancestors: [] };
    expect(life.send({ ...held(thing()), by: agent })?.code).to.equal('FORBIDDEN');
    expect(life.send({ type: 'notifier.retry', by: agent })?.code).to.equal('FORBIDDEN');
    expect(life.send({ ...held(thing()), by: { type: 'operator' } })?.code).to.equal('FORBIDDEN');
  });
});
