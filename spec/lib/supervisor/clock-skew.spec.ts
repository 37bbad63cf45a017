import { expect } from 'chai';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { testEnvironment } from '../../../lib/testing/test-environment.js';
import { counterKind } from '../../fixtures/kinds.js';
import { unclosable } from '../../fixtures/house.js';

const noon = Date.UTC(2026, 0, 1, 12);

describe('the clock of waits of a home that moves', () => {
  // It grew by the skew at each move: after ten moves between walls 3 s apart every timer was 15 s early.
  it('leads the wall of a machine by no more than the walls of two machines differ', async () => {
    const store = unclosable(memoryStore());
    const leads: number[] = [];
    for (let move = 0; move <= 10; move += 1) {
      const isBehind = move % 2 === 1;
      const environment = testEnvironment({
        seed: move + 1,
        startAt: noon + move * 100 - (isBehind ? 3_000 : 0),
        machine: isBehind ? 'behind' : 'ahead',
      });
      const supervisor = await createSupervisor({ kinds: [counterKind()], store, environment });
      if (move === 0) await supervisor.spawn('counter', { id: 'a' });
      await supervisor.ask('counter', 'a', { type: 'add', n: 1 });
      leads.push(environment.clock.monotonic() - environment.clock.now());
      await supervisor.stop();
    }
    expect(Math.max(...leads)).to.be.within(2_000, 3_000);
    expect(leads.at(-1)).to.equal(0);
  });

  it('goes on where it stood on the same machine, whose wall had been set back', async () => {
    const store = unclosable(memoryStore());
    const first = testEnvironment({ startAt: noon, machine: 'a' });
    const one = await createSupervisor({ kinds: [counterKind()], store, environment: first });
    await first.setWall(-3_600_000);
    await one.spawn('counter', { id: 'a' });
    await one.stop();
    const second = testEnvironment({ startAt: first.clock.now() + 60_000, machine: 'a' });
    const two = await createSupervisor({ kinds: [counterKind()], store, environment: second });
    expect(second.clock.monotonic()).to.equal(noon + 60_000);
    await two.stop();
  });
});
