import { expect } from 'chai';
import type { Store, StoreError } from '../../../lib/store/contract.js';
import { memoryStore } from '../../../lib/store/memory.js';
import type { AskOptions, Supervisor } from '../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { testEnvironment, type TestEnvironment } from '../../../lib/testing/test-environment.js';
import { counterKind, workerKind } from '../../fixtures/kinds.js';
import { openHouse, rejection, seen, unclosable } from '../../fixtures/house.js';
import type { Effect, EffectContext } from '../../../actors/contracts.js';

const add = { type: 'add', n: 1 };

/**
 * Two supervisors on one store: what a take-over looks like to the former owner. Before a refusal ended the life of a supervisor, of six acknowledged adds four were stored.
 */
describe('a supervisor whose store has another owner', () => {
  let shared: Store;
  let opened: Supervisor[];
  let environment: TestEnvironment;
  let lost: string[];
  beforeEach(() => {
    shared = unclosable(memoryStore());
    opened = [];
    environment = testEnvironment();
    lost = [];
  });
  afterEach(() => Promise.all(opened.map((supervisor) => supervisor.stop())));

  async function open(store: Store = shared, effect?: Effect): Promise<Supervisor> {
    const supervisor = await createSupervisor({
      kinds: [counterKind(), ...(effect === undefined ? [] : [workerKind(effect)])],
      store: unclosable(store), // as another process opens it: one object is refused to the second
      environment,
      onLost: (reason) => lost.push(reason),
    });
    opened.push(supervisor);
    return supervisor;
  }

  const total = async (supervisor: Supervisor): Promise<number> =>
    (seen(await supervisor.get('counter', 'a')) as { n: number }).n;

  it('acknowledges only what is stored: of six adds in turn, as many as were acknowledged', async () => {
    const first = await open();
    await first.spawn('counter', { id: 'a' });
    const second = await open();
    let acknowledged = 0;
    for (let turn = 0; turn < 6; turn += 1) {
      const answer = await (turn % 2 === 0 ? first : second).ask('counter', 'a', add).then(
        () => 'done',
        (error: StoreError) => error.code,
      );
      if (answer === 'done') acknowledged += 1;
      else expect(answer).to.equal('LOST');
    }
    expect(acknowledged).to.equal(3);
    expect(await total(await open())).to.equal(acknowledged);
  });

  it('ends there and then: requests, reads and queued work are refused, and say why', async () => {
    const former = await open();
    await former.spawn('counter', { id: 'a' });
    const owner = await open();
    await owner.ask('counter', 'a', add);
    const asked = await Promise.all(
      Array.from({ length: 5 }, () => rejection(former.ask('counter', 'a', add))),
    );
    expect(asked.map((error) => (error as StoreError).code)).to.deep.equal(Array(5).fill('LOST'));
    for (const call of [
      former.get('counter', 'a'),
      former.list('counter', { index: 'all' }),
      former.ask('counter', 'a', add, { dryRun: true } satisfies AskOptions),
      former.spawn('counter', { id: 'b' }),
      former.history({ kind: 'counter', id: 'a' }),
    ])
      expect(await rejection(call)).to.include({ code: 'LOST' });
    expect(former.status.state).to.equal('stopped');
    expect(former.status.reasons.join()).to.contain('no longer owns the home');
    expect(lost).to.have.length(1);
    expect(former.status.awake).to.equal(0);
    expect(await total(owner)).to.equal(1);
  });

  it('aborts its effects as lost, and neither settles nor sweeps what is theirs', async () => {
    const contexts: EffectContext[] = [];
    const ends: (() => void)[] = [];
    const effect: Effect = {
      guarantee: 'at-least-once',
      run: (_input, context) => {
        contexts.push(context);
        return new Promise((resolve) => ends.push(() => resolve('too late')));
      },
    };
    const former = await open(shared, effect);
    await former.spawn('counter', { id: 'a' });
    await former.spawn('worker', { id: 'w' });
    await former.ask('worker', 'w', { type: 'go', input: 'x' });
    await environment.settle();
    const owner = await open();
    await owner.ask('counter', 'a', add);
    const { seq } = shared.head;
    expect(await rejection(former.ask('counter', 'a', add))).to.include({ code: 'LOST' });
    expect([contexts[0]?.signal.aborted, contexts[0]?.reason()]).to.deep.equal([true, 'lost']);
    for (const end of ends) end();
    await environment.settle();
    expect(shared.head.seq).to.equal(seq);
    expect(await shared.page({ gte: 'o/', lt: 'o0' })).to.have.length(1);
  });
});

/** A lease that the spec gives and takes. */
function leased(inner: Store): Store & { holds: boolean } {
  const store = Object.assign(Object.create(inner) as Store, { holds: true });
  return Object.assign(store, { authority: () => store.holds });
}

describe('a supervisor whose lease has run out', () => {
  it('answers nothing from memory, starts no effect and fires no timer until it holds again', async () => {
    const store = leased(unclosable(memoryStore()));
    const ran: string[] = [];
    const house = await openHouse([counterKind(), workerKind(quick(ran))], { inner: store });
    const { supervisor, environment } = house;
    await supervisor.spawn('counter', { id: 'a' });
    await supervisor.spawn('worker', { id: 'w' });
    store.holds = false;
    expect(await rejection(supervisor.get('counter', 'a'))).to.include({ code: 'STORE_UNAVAILABLE' });
    // It was stored, and yet no one may rely on it: a store that replaced this one may not have it.
    expect(await rejection(supervisor.ask('worker', 'w', { type: 'go', input: 'x' }))).to.include({
      code: 'OUTCOME_UNKNOWN',
    });
    await environment.advance(1_000);
    expect(ran).to.deep.equal([]);
    store.holds = true;
    await environment.advance(1_000);
    expect(ran).to.deep.equal(['x']);
    expect(seen(await supervisor.get('counter', 'a'))).to.include({ n: 0 });
    expect(house.faults).to.deep.equal([]);
    await house.stop();
  });
});

const quick = (ran: string[]): Effect => ({
  guarantee: 'at-least-once',
  run: async (input) => {
    ran.push(String(input));
    return 'done';
  },
});
