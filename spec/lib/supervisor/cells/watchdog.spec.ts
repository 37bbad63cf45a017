import { expect } from 'chai';
import { pino } from 'pino';
import { faultyStore } from '../../../../lib/store/faulty.js';
import { memoryStore } from '../../../../lib/store/memory.js';
import type { Supervisor } from '../../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../../lib/supervisor/supervisor.js';
import { testEnvironment } from '../../../../lib/testing/test-environment.js';
import { systemEnvironment, type Environment } from '../../../../lib/environment.js';
import { counterKind } from '../../../fixtures/kinds.js';
import { rejection, seen } from '../../../fixtures/house.js';

describe('work that waits for its time', () => {
  const rang = async (supervisor: Supervisor, id: string) =>
    seen(await supervisor.get('counter', id))['rang'];

  // A timer was tried again 250 ms after a write that had failed; the timeout for that came a moment early by
  // the clock of waits, found nothing due and was never set again: the timer rang at the next restart.
  it('is done although its timeout comes early', async () => {
    const environment = testEnvironment();
    const { clock } = environment;
    const early: Environment = {
      ...environment,
      clock: { ...clock, timeout: (ms, callback) => clock.timeout(ms > 1 ? ms - 1 : ms, callback) },
    };
    const store = faultyStore(memoryStore());
    const supervisor = await createSupervisor({ kinds: [counterKind()], store, environment: early });
    await supervisor.spawn('counter', { id: 'a' });
    await supervisor.ask('counter', 'a', { type: 'wait', ms: 1_000 });
    store.fail({ failAt: 1, mode: 'before' });
    await environment.advance(1_300);
    expect(await rang(supervisor, 'a')).to.equal(1);
    expect(supervisor.status).to.include({ stalled: 0, stalledTotal: 0 });
    await supervisor.stop();
  });

  // The same on the clocks of the platform, which count whole milliseconds from different beginnings: on a
  // process that looks at its timeouts all the time, half of them come early. 368 of 400 timers never rang.
  it('is done on a real clock while the process is busy', async function () {
    this.timeout(180_000);
    const many = 200;
    const store = faultyStore(memoryStore());
    const supervisor = await createSupervisor({
      kinds: [counterKind()],
      store,
      environment: systemEnvironment(),
    });
    const ids = Array.from({ length: many }, (_, n) => `c${n}`);
    await Promise.all(ids.map((id) => supervisor.spawn('counter', { id })));
    await Promise.all(
      ids.map((id, n) => supervisor.ask('counter', id, { type: 'wait', ms: 300 + (n % 100) * 2 })),
    );
    let rung = 0;
    const all = new Promise<void>((resolve) => {
      for (const id of ids)
        supervisor.handle('counter', id).subscribe((snapshot) => {
          if ((snapshot as { context: { rang: number } }).context.rang > 0 && ++rung === many) resolve();
        });
    });
    let busy = true;
    const work = (): void => {
      if (busy) setImmediate(work);
    };
    work();
    store.fail({ mode: 'before' });
    for (const offered = store.offered; store.offered < offered + 40;)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    store.fail(undefined);
    await all;
    busy = false;
    expect(supervisor.status).to.include({ stalled: 0, stalledTotal: 0 });
    await supervisor.stop();
  });

  it('is counted, logged and looked at again where its wake-up was lost', async () => {
    const lines: { msg: string; actors?: number; first?: string }[] = [];
    const log = pino(
      { level: 'warn', base: null },
      { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
    );
    const environment = testEnvironment({ log });
    let lost = 0;
    const timeout = (ms: number, callback: () => void): (() => void) => {
      if (ms !== 250) return environment.clock.timeout(ms, callback);
      lost += 1;
      return () => undefined;
    };
    const lossy: Environment = { ...environment, clock: { ...environment.clock, timeout } };
    const store = faultyStore(memoryStore());
    const supervisor = await createSupervisor({ kinds: [counterKind()], store, environment: lossy });
    await supervisor.spawn('counter', { id: 'a' });
    await supervisor.ask('counter', 'a', { type: 'wait', ms: 1_000 });
    store.fail({ failAt: 1, mode: 'before' });
    await environment.advance(4_999);
    expect([lost, await rang(supervisor, 'a'), supervisor.status.stalled]).to.deep.equal([1, 0, 0]);
    for (let seconds = 0; seconds < 4 && supervisor.status.stalled === 0; seconds += 1)
      await environment.advance(1_000);
    expect(supervisor.status).to.include({ stalled: 1, stalledTotal: 1 });
    expect(lines.filter(({ msg }) => msg === 'actors with due work made no progress')).to.have.length(1);
    expect(lines.at(-1)).to.include({ actors: 1, first: 'a/counter/a' });
    expect(await rang(supervisor, 'a')).to.equal(1);
    await environment.advance(10_000);
    expect(supervisor.status).to.include({ stalled: 0, stalledTotal: 1 });
    await supervisor.stop();
  });

  it('is not taken for stalled while it rests after a failure, or goes on slowly', async () => {
    const environment = testEnvironment();
    const kind = counterKind({ supervision: { backoffMs: 20_000 } });
    const supervisor = await createSupervisor({ kinds: [kind], store: memoryStore(), environment });
    await supervisor.spawn('counter', { id: 'a' });
    await rejection(supervisor.ask('counter', 'a', { type: 'explode' }));
    const asked = supervisor.ask('counter', 'a', { type: 'add', n: 1 });
    await environment.advance(60_000);
    expect(seen(await asked)).to.include({ n: 1 });
    expect(supervisor.status).to.include({ stalled: 0, stalledTotal: 0 });
    await supervisor.stop();
  });
});
