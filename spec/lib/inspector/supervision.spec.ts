import { expect } from 'chai';
import { setup } from 'xstate';
import type { AtMostOnceEffect, AtLeastOnceEffect, Kind } from '../../../actors/contracts.js';
import { connectorKind } from '../../../actors/connector/kind.js';
import { actors } from '../../../lib/inspector/actors.js';
import { supervision } from '../../../lib/inspector/supervision.js';
import { isRefusal } from '../../../machines/refusals.js';
import { openHouse } from '../../fixtures/house.js';

/** The tree of supervision tells who fails, who backs off, who gave up, and what the house lacks. */
const engines = {
  list: async () => ({
    engines: {
      clerk: { name: 'clerk', available: true },
      ghost: { name: 'ghost', available: false, reason: 'Not installed.' },
    },
  }),
};
const fragile = (giveUp: 'halt' | 'escalate'): Kind => {
  const machine = setup({
    types: {} as { events: { type: 'break' } },
    guards: {
      broken: () => {
        throw new Error('it broke');
      },
    },
  }).createMachine({
    id: 'glass',
    initial: 'whole',
    states: { whole: { on: { break: { guard: 'broken' } } } },
  });
  return {
    kind: 'glass',
    version: 1,
    machine,
    view: ({ value }) => value,
    supervision: { intensity: 2, periodSeconds: 10, backoffMs: 1_000, giveUp },
  } as Kind<typeof machine> as unknown as Kind;
};

describe('the supervision tree', () => {
  it('shows failures that count, the backoff while it lasts, then the halt, then nothing of it', async () => {
    const house = await openHouse([fragile('escalate')]);
    await house.supervisor.spawn('glass', { id: 'g' });
    const look = async () => {
      const [glass] = (await supervision(house.supervisor, engines)).kinds;
      return {
        restarts: glass?.restarts,
        failing: glass?.failing.map(({ id, failures, until }) => [
          id,
          failures,
          until === null ? null : until - house.environment.clock.now(),
        ]),
        halted: glass?.halted.map(({ id }) => id),
      };
    };
    const fail = () => house.supervisor.ask('glass', 'g', { type: 'break' }).catch(() => undefined);
    expect(await look()).to.deep.equal({ restarts: 0, failing: [], halted: [] });
    await fail();
    expect(await look()).to.deep.equal({ restarts: 1, failing: [['g', 1, 1_000]], halted: [] });
    await house.environment.advance(1_000);
    expect(await look()).to.deep.equal({ restarts: 1, failing: [['g', 1, null]], halted: [] });
    const again = fail();
    await house.environment.advance(5_000);
    await again;
    const last = fail();
    await house.environment.advance(1);
    await last;
    expect(await look()).to.deep.equal({ restarts: 2, failing: [['g', 3, null]], halted: ['g'] });
    const { root } = await supervision(house.supervisor, engines);
    expect(root.state).to.equal('degraded');
    expect(root.subsystems.find(({ name }) => name === 'actors')?.failing).to.match(
      /glass g: It failed 3 times within 10 s/,
    );
    const page = await actors(house.supervisor, { kind: 'glass', state: 'halted', limit: 10 });
    expect(isRefusal(page) ? page : page.actors.map(({ id, halted }) => [id, halted?.reason])).to.deep.equal([
      ['g', (await supervision(house.supervisor, engines)).kinds[0]?.halted[0]?.reason],
    ]);
    await house.supervisor.resume({ kind: 'glass', id: 'g' }, { type: 'operator' });
    expect(await look()).to.deep.equal({ restarts: 2, failing: [], halted: [] });
    expect((await supervision(house.supervisor, engines)).root.state).to.equal('running');
    await house.stop();
  });

  it('shows engines and connectors as circuits: open with a reason, half-open while they are tried, closed', async () => {
    let way: 'hang' | 'fail' = 'hang';
    const connection: AtLeastOnceEffect<unknown, void> = {
      guarantee: 'at-least-once',
      run: (_input, { signal }) =>
        way === 'fail'
          ? Promise.reject(new Error('the line is dead'))
          : new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new Error('left')));
            }),
    };
    const delivery: AtMostOnceEffect<unknown, never> = {
      guarantee: 'at-most-once',
      run: () => Promise.reject(new Error('none')),
      recover: () => Promise.reject(new Error('none')),
    };
    const house = await openHouse([connectorKind({ connection, delivery }) as unknown as Kind]);
    const input = { name: 'hook', connectorType: 'webhook', employee: null, capabilities: {} };
    const unknown = { since: null, nextTry: null };
    const circuits = async () => (await supervision(house.supervisor, engines)).circuits;
    expect(await circuits()).to.deep.equal([
      { type: 'engine', name: 'clerk', state: 'closed', status: 'works', reason: null, ...unknown },
      {
        type: 'engine',
        name: 'ghost',
        state: 'open',
        status: 'unavailable',
        reason: 'Not installed.',
        ...unknown,
      },
    ]);
    await house.supervisor.spawn('connector', { id: 'hook', input });
    await house.environment.settle();
    expect((await circuits()).at(-1)).to.deep.include({
      type: 'connector',
      name: 'hook',
      state: 'half-open',
      status: 'starting',
    });
    way = 'fail';
    await house.supervisor.spawn('connector', { id: 'dead', input: { ...input, name: 'dead' } });
    await house.environment.settle();
    const dead = (await circuits()).find(({ name }) => name === 'dead');
    expect(dead).to.include({ state: 'open', status: 'failing', since: house.environment.clock.now() });
    expect(dead?.nextTry).to.equal(house.environment.clock.now() + 1_000);
    expect(dead?.reason).to.be.a('string').and.not.equal('');
    // It counted from the last try, so that a connector that had failed all night had failed for seconds
    for (let tries = 0; tries < 3; tries += 1) await house.environment.advance(3_600_000);
    const later = (await circuits()).find(({ name }) => name === 'dead');
    expect([later?.status, later?.since]).to.deep.equal(['failing', dead?.since]);
    const [waits] = (await house.supervisor.waiting({})).items;
    expect([waits?.waiting.what, waits?.waiting.since]).to.deep.equal(['connector', dead?.since]);
    await house.stop();
  });
});
