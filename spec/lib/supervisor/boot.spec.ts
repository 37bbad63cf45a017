import { expect } from 'chai';
import { memoryStore } from '../../../lib/store/memory.js';
import { keys } from '../../../lib/store/keys.js';
import type { Store } from '../../../lib/store/contract.js';
import { counterKind, workerKind } from '../../fixtures/kinds.js';
import { openHouse, seen, unclosable } from '../../fixtures/house.js';

/** Write rows as an earlier life might have left them. */
async function leave(store: Store, rows: readonly (readonly [string, string])[]): Promise<void> {
  const { seq, chain } = store.head;
  await store.write({ first: seq + 1, last: seq, chain, ops: rows });
}

const deed = { guarantee: 'at-least-once', run: async () => 'done' } as const;
const overdue = Date.UTC(2026, 0, 1) - 1_000;

describe('the start', () => {
  // An effect of a kind that had been removed ended the process at every start.
  it('keeps effects and messages of unknown kinds, reports them once, and goes on', async () => {
    const inner = unclosable(memoryStore());
    const row = JSON.stringify({ callId: 'deed', src: 'deed', input: null });
    const rows = [
      [keys.outbox('gone', 'x', '1.0'), row],
      [keys.outbox('gone', 'y', '1.0'), row],
      [keys.inbox('gone', 'x', 1, 0), JSON.stringify({ event: { type: 'add', n: 1 }, cause: 1 })],
      [keys.timer(overdue, 'gone', 'x', 'nap'), '1'],
    ] as const;
    await leave(inner, rows);
    const house = await openHouse([counterKind()], { inner });
    await house.environment.advance(60_000);
    for (const [key, value] of rows) expect(await inner.get(key), key).to.equal(value);
    expect(house.faults.filter((fault) => fault.includes('"gone" are kept'))).to.have.length(1);
    expect(house.faults[0]).to.match(/^3 messages and effects of the unknown kind "gone"/);
    await house.supervisor.spawn('counter', { id: 'c' });
    expect(seen(await house.supervisor.ask('counter', 'c', { type: 'add', n: 1 }))).to.include({ n: 1 });
    await house.stop();
  });

  it('keeps a row that cannot be read, and does what else there is to do', async () => {
    const inner = unclosable(memoryStore());
    let house = await openHouse([counterKind(), workerKind(deed)], { inner });
    await house.supervisor.spawn('worker', { id: 'w' });
    await house.stop();
    const rows = [
      [keys.outbox('worker', 'w', '7.0'), 'no json'],
      [keys.inbox('worker', 'w', 1, 0), 'no json'],
      ['o/worker/%zz/1.0', '{}'],
      [keys.inbox('worker', 'w', 2, 0), JSON.stringify({ event: { type: 'heard', what: 'x' }, cause: 1 })],
    ] as const;
    await leave(inner, rows);
    house = await openHouse([counterKind(), workerKind(deed)], { inner });
    await house.environment.settle();
    expect(seen(await house.supervisor.get('worker', 'w'))).to.deep.include({ results: ['x'] });
    for (const [key, value] of rows.slice(0, 3)) expect(await inner.get(key), key).to.equal(value);
    expect(house.faults).to.have.length(3);
    await house.stop();
  });

  it('delivers an inbox longer than a page in its order, before what is younger', async () => {
    const inner = unclosable(memoryStore());
    let house = await openHouse([workerKind(deed)], { inner });
    await house.supervisor.spawn('worker', { id: 'w' });
    await house.stop();
    const many = 2_300;
    await leave(
      inner,
      Array.from({ length: many }, (_, n) => [
        keys.inbox('worker', 'w', 1, n),
        JSON.stringify({ event: { type: 'heard', what: `m${n}` }, cause: 1 }),
      ]),
    );
    house = await openHouse([workerKind(deed)], { inner });
    const heard = seen(await house.supervisor.ask('worker', 'w', { type: 'heard', what: 'young' }));
    const results = heard['results'] as string[];
    expect(results).to.have.length(many + 1);
    expect(results.at(-1)).to.equal('young');
    expect(results.slice(0, many)).to.deep.equal(Array.from({ length: many }, (_, n) => `m${n}`));
    await house.stop();
  });

  // Every due timer woke its actor at once, and each new one walked over all that were at work: 60,000 of them
  // held the event loop for 62 s.
  it('lets overdue timers in a few at a time, and keeps its bound of awake actors', async () => {
    const inner = unclosable(memoryStore());
    const many = 600;
    const awakeActorsMax = 50;
    let house = await openHouse([counterKind()], { inner });
    for (let n = 0; n < many; n += 1) {
      await house.supervisor.spawn('counter', { id: `c${n}` });
      await house.supervisor.ask('counter', `c${n}`, { type: 'wait', ms: 3_600_000 });
    }
    await house.stop();
    let turn = 0;
    const begun = new Map<number, number>();
    let awakeMax = 0;
    const watched = new Proxy(inner, {
      get: (target, member) =>
        member === 'get'
          ? (key: string) => {
              if (key.startsWith('a/')) {
                begun.set(turn, (begun.get(turn) ?? 0) + 1);
                awakeMax = Math.max(awakeMax, house.supervisor.status.awake);
              }
              return target.get(key);
            }
          : (Reflect.get(target, member) as unknown),
    });
    house = await openHouse([counterKind()], { inner: watched, limits: { awakeActorsMax } });
    const slept = house.environment.sleep(2 * 3_600_000);
    for (let waiting = true; waiting && turn < 10_000; turn += 1) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      waiting = (await inner.page({ gte: 't/', lt: 't/\x7f', limit: 1 })).length > 0;
    }
    await slept;
    expect([...begun.values()].reduce((sum, count) => sum + count, 0)).to.equal(many);
    expect(Math.max(...begun.values())).to.be.at.most(128);
    expect(awakeMax).to.be.at.most(awakeActorsMax + 64);
    expect(seen(await house.supervisor.get('counter', `c${many - 1}`))).to.include({ rang: 1 });
    await house.stop();
  });
});
