import { expect } from 'chai';
import { answerRefusal } from '../../../lib/gateway/errors.js';
import { system } from '../../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { openHouse } from '../../fixtures/house.js';
import { counterKind } from '../../fixtures/kinds.js';

// 200,000 requests for as many actors were all taken, and took 1.2 GB: the mailboxes had a bound, their sum had
// none.
describe('more requests than can be waited for', () => {
  const add = { type: 'add', n: 1 };
  const codes = (answers: readonly unknown[]) =>
    answers.map((answer) => (isRefusal(answer) ? answer.code : 'done'));

  it('are refused, all but those of the system, and taken again when there is room', async () => {
    const house = await openHouse([counterKind()], { limits: { requestsMax: 5 } });
    const { supervisor, store, environment } = house;
    for (let n = 0; n < 12; n += 1) await supervisor.spawn('counter', { id: `c${n}` });
    store.fail({ mode: 'hold' });
    const asked = Array.from({ length: 8 }, (_, n) => supervisor.ask('counter', `c${n}`, add));
    const keyed = supervisor.ask('counter', 'c8', add, {
      idempotency: { scope: 's', key: 'k', hash: 'h' },
    });
    const planned = supervisor.transact({
      name: 'plan',
      actors: [{ kind: 'counter', id: 'c9' }],
      run: () => null,
    });
    const own = supervisor.ask('counter', 'c10', add, { by: system('test') });
    expect(codes([await keyed, await planned])).to.deep.equal(['OVERLOADED', 'OVERLOADED']);
    await environment.settle();
    store.fail(undefined);
    store.release();
    expect(codes(await Promise.all(asked))).to.deep.equal([
      ...Array.from({ length: 5 }, () => 'done'),
      ...Array.from({ length: 3 }, () => 'OVERLOADED'),
    ]);
    expect(codes([await own])).to.deep.equal(['done']);
    // Whatever the end was, the place is free again
    for (let n = 0; n < 20; n += 1) {
      await supervisor.ask('counter', 'c1', { type: 'add', n: -1 });
      await supervisor.ask('counter', 'absent', add);
      await supervisor.ask('counter', 'c1', add, { dryRun: true });
      await supervisor.spawn('counter', { id: 'c1' });
      await supervisor.ask('counter', 'c1', add, { idempotency: { scope: 's', key: 'k2', hash: 'h' } });
    }
    expect(codes([await supervisor.ask('counter', 'c11', add)])).to.deep.equal(['done']);
    await house.stop();
  });

  it('never hold up messages, timers and what effects say', async () => {
    const house = await openHouse([counterKind()], { limits: { requestsMax: 1 } });
    const { supervisor, store, environment } = house;
    for (const id of ['a', 'b', 'timed']) await supervisor.spawn('counter', { id });
    await supervisor.ask('counter', 'timed', { type: 'wait', ms: 1_000 });
    await supervisor.ask('counter', 'a', { type: 'pass', to: 'b', n: 3 });
    store.fail({ mode: 'hold' });
    const held = supervisor.ask('counter', 'a', add);
    expect(codes([await supervisor.ask('counter', 'b', add)])).to.deep.equal(['OVERLOADED']);
    await environment.advance(1_000);
    store.fail(undefined);
    store.release();
    await held;
    await environment.settle();
    expect((await supervisor.get('counter', 'timed'))?.view).to.include({ rang: 1 });
    expect((await supervisor.get('counter', 'b'))?.view).to.include({ n: 3 });
    await house.stop();
  });

  it('are told over HTTP when to come again', () => {
    const headers: Record<string, string> = {};
    const ctx = {
      status: 0,
      body: undefined as unknown,
      set: (name: string, value: string) => (headers[name] = value),
    };
    answerRefusal(ctx as never, refuse('OVERLOADED') as Refusal);
    expect([ctx.status, headers]).to.deep.equal([503, { 'Retry-After': '1' }]);
    expect(ctx.body).to.include({ code: 'OVERLOADED' });
  });
});
