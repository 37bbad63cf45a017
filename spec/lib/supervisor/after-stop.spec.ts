import { expect } from 'chai';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { testEnvironment } from '../../../lib/testing/test-environment.js';
import { system } from '../../../machines/caller.js';
import { openHouse, rejection } from '../../fixtures/house.js';
import { counterKind } from '../../fixtures/kinds.js';

// What the system itself asked of a supervisor that had stopped entered a mailbox that no one looked at any
// more: the promise never settled, and the one who awaited it hung.
describe('a supervisor that has stopped', () => {
  let supervisor: Supervisor;
  beforeEach(async () => {
    supervisor = await createSupervisor({
      kinds: [counterKind()],
      store: memoryStore(),
      environment: testEnvironment(),
    });
    for (const id of ['awake', 'b']) await supervisor.spawn('counter', { id });
    await supervisor.stop();
  });

  const by = system('test');
  const actor = { kind: 'counter', id: 'awake' };
  const cases: Record<string, () => Promise<unknown>> = {
    ask: () => supervisor.ask('counter', 'awake', { type: 'add', n: 1 }, { by }),
    'ask with a key': () =>
      supervisor.ask(
        'counter',
        'awake',
        { type: 'add', n: 1 },
        { by, idempotency: { scope: 's', key: 'k', hash: 'h' } },
      ),
    'ask by a person': () => supervisor.ask('counter', 'awake', { type: 'add', n: 1 }),
    spawn: () => supervisor.spawn('counter', { id: 'c', by }),
    transact: () => supervisor.transact({ name: 'p', actors: [actor], by, run: () => null }),
    wake: () => supervisor.handle('counter', 'awake').wake(),
    'wake of one that sleeps': () => supervisor.handle('counter', 'asleep').wake(),
    resume: () => supervisor.resume(actor, { type: 'operator' }),
  };
  for (const [name, call] of Object.entries(cases))
    it(`refuses ${name}`, async () => {
      expect(await call()).to.include({ refused: true, code: 'DRAINING', status: 503 });
    });

  it('lets a subscription be made and ended, and reports nothing', () => {
    supervisor
      .handle('counter', 'asleep')
      .subscribe(() => undefined)
      .unsubscribe();
  });

  it('fails what still waited when its time was over', async () => {
    const house = await openHouse([counterKind()]);
    await house.supervisor.spawn('counter', { id: 'a' });
    house.store.fail({ mode: 'hold' });
    const first = house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }, { by });
    const second = rejection(house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }, { by }));
    await house.environment.settle();
    const stopped = house.supervisor.stop({ drainMs: 1_000 });
    await house.environment.advance(1_000);
    expect(await second).to.include({ code: 'STORE_UNAVAILABLE' });
    const late = rejection(house.supervisor.handle('counter', 'a').ask({ type: 'add', n: 1 }, { by }));
    house.store.fail(undefined);
    house.store.release();
    await Promise.allSettled([first, late]);
    await stopped;
  });

  // It asked again in every turn of the loop, so that a stop behind a dead disk took a whole processor for `drainMs`.
  it('costs no processor while it waits for its store', async () => {
    const house = await openHouse([counterKind()]);
    await house.supervisor.spawn('counter', { id: 'a' });
    house.store.fail({ mode: 'hold' });
    const asked = rejection(house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }, { by }));
    await house.environment.settle();
    const turn = globalThis.setImmediate;
    let looks = 0;
    globalThis.setImmediate = Object.assign((run: () => void) => ((looks += 1), turn(run)), turn);
    const stopped = house.supervisor.stop({ drainMs: 1_000 });
    try {
      for (let turns = 0; turns < 1_000; turns += 1) await new Promise((resolve) => turn(resolve));
    } finally {
      globalThis.setImmediate = turn;
    }
    expect(looks).to.be.below(300);
    await house.environment.advance(1_000);
    house.store.fail(undefined);
    house.store.release();
    await Promise.allSettled([asked, stopped]);
  });
});
