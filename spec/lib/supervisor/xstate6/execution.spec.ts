import { expect } from 'chai';
import * as xstate from 'xstate6';
import { createDurable } from 'xstate6/durable';
import type { Kind } from '../../../../actors/contracts.js';
import { executionKind } from '../../../../lib/entries/xstate6.js';
import { v6 } from '../../../fixtures/durable-6.js';
import { orderMachine, type Deeds } from '../../../fixtures/execution.js';
import { openHouse, rejection, type House } from '../../../fixtures/house.js';

// A machine of the alpha is no AnyActorLogic under exactOptionalPropertyTypes
const durably = (machine: object, adapter: Parameters<typeof createDurable>[1]) =>
  createDurable(machine as xstate.AnyActorLogic, adapter);

/** The adapter alone: a host drives createDurable itself, and Troupe keeps the journal. */
describe('a durable execution that its host drives', () => {
  const kinds = [executionKind] as unknown as readonly Kind[];
  let house: House;
  let deeds: Deeds;
  beforeEach(async () => {
    deeds = { actions: [], steps: [], bodies: [] };
    house = await openHouse(kinds);
  });
  afterEach(() => house.stop());

  const adapterOf = (machine = orderMachine(deeds), signal?: AbortSignal) =>
    v6.executionAdapter(house.supervisor, {
      id: 'o1',
      logic: machine,
      ...(signal === undefined ? {} : { signal }),
    });
  /** As a host's program does at each start. */
  async function run(machine = orderMachine(deeds)): Promise<unknown> {
    return durably(machine, await adapterOf(machine)).run({ order: 'lamp' });
  }
  const send = (event: { type: string; [member: string]: unknown }) =>
    house.supervisor.ask('execution', 'o1', { type: 'event.send', event } as never);
  const entries = async () =>
    (await house.supervisor.rows({ kind: 'execution', id: 'o1' }, 'entries')).map(
      ({ row }) => row as { type: string; name?: string },
    );
  /** Until so many of its timers were set or cancelled: the last but one is the child's, which waits for time. */
  async function timersSet(count: number): Promise<void> {
    for (let tries = 0; tries < 1_000; tries += 1) {
      if ((await entries()).filter(({ name }) => name?.startsWith('timer ')).length >= count) return;
      await house.environment.settle();
    }
    throw new Error(`fewer than ${count} timers: ${JSON.stringify(await entries())}`);
  }
  /** The process dies; the promises of what ran in it never settle. */
  async function crash(): Promise<void> {
    await house.crash();
    await house.environment.settle();
  }
  const end = ['lamp', 'charged 3', 'packed', 'a box with a lamp'];

  it('waits for events, keeps the clock of timers, also of children, and answers with its output', async () => {
    const output = run();
    await house.environment.settle();
    await timersSet(1);
    await send({ type: 'pay', amount: 3 });
    await timersSet(3);
    await house.environment.advance(60);
    expect(await output).to.deep.equal(end);
    expect(deeds).to.deep.equal({
      actions: ['thank you for 3'],
      steps: ['check 3', 'charge 3'],
      bodies: ['charge', 'pack lamp'],
    });
    expect((await house.supervisor.get('execution', 'o1'))?.view).to.deep.include({
      state: 'ended',
      outcome: { output: end },
    });
    expect(await run(), 'again from its journal').to.deep.equal(end);
    expect(deeds.bodies).to.have.length(2);
  });

  it('goes on after a crash without doing again what was done', async () => {
    void run();
    await timersSet(1);
    await send({ type: 'pay', amount: 3 });
    await timersSet(3);
    await crash();
    const output = run();
    await house.environment.advance(60);
    expect(await output).to.deep.equal(end);
    expect(deeds).to.deep.equal({
      actions: ['thank you for 3'],
      steps: ['check 3', 'charge 3'],
      bodies: ['charge', 'pack lamp'],
    });
  });

  it('fires a timer that came due while no process ran, once, and hears of errors of async work', async () => {
    void run();
    await timersSet(1);
    await crash();
    await house.environment.advance(200);
    expect(await run()).to.deep.equal(['lamp', 'late']);
    await house.stop();
    house = await openHouse(kinds);
    const refused = run();
    await timersSet(1);
    await send({ type: 'pay', amount: -1 });
    expect(await refused).to.deep.equal(['lamp', 'no money']);
  });

  it('takes events that were sent before it runs, and none of XState’s own from outside', async () => {
    await house.supervisor.spawn('execution', {
      id: 'o1',
      input: { logic: { id: 'order', version: null } },
    });
    expect(await send({ type: 'xstate.done.actor.charge' })).to.include({ code: 'BAD_REQUEST' });
    expect(await send({ text: 'no type' } as never)).to.include({ code: 'BAD_REQUEST' });
    await send({ type: 'pay', amount: -1 });
    expect(await run()).to.deep.equal(['lamp', 'no money']);
  });

  it('is refused where another version of its machine has begun it', async () => {
    await adapterOf(orderMachine(deeds, '1'));
    await house.restart();
    const error = await rejection(adapterOf(orderMachine(deeds, '2')));
    expect(error.message).to.equal(
      'The execution "o1" was begun by "order" version 1 and cannot go on with "order" version 2: run it with ' +
        'the former, or begin another one.',
    );
  });

  it('is driven by one adapter: the next one takes over', async () => {
    const first = rejection(run());
    await timersSet(1);
    const second = run();
    expect((await first).message).to.equal('Another adapter drives the execution "o1" now.');
    await send({ type: 'pay', amount: -1 });
    expect(await second).to.deep.equal(['lamp', 'no money']);
    expect(deeds.steps).to.deep.equal(['check -1']);
  });

  it('ends its wait with the supervisor, or where its host says so', async () => {
    const leaving = new AbortController();
    const machine = orderMachine(deeds);
    const left = durably(machine, await adapterOf(machine, leaving.signal)).run({ order: 'lamp' });
    await timersSet(1);
    leaving.abort(new Error('enough'));
    expect((await rejection(left)).message).to.equal('enough');
    const cut = rejection(run());
    await timersSet(1);
    await house.supervisor.stop();
    expect((await cut).message).to.equal('The supervisor has stopped.');
  });

  it('refuses logic that a replay could not repeat', async () => {
    const machine = xstate
      .setup({ actors: { listen: xstate.createCallbackLogic(() => undefined) } })
      .createMachine({ id: 'm', initial: 'a', states: { a: { invoke: { src: 'listen' } } } });
    const adapter = await v6.executionAdapter(house.supervisor, { id: 'm1', logic: machine });
    expect((await rejection(durably(machine, adapter).run())).message).to.include(
      'runs logic that cannot be replayed',
    );
  });

  describe('whose process dies', function () {
    this.timeout(180_000);

    async function story(): Promise<unknown> {
      for (let life = 0; life < 3; life += 1) {
        const { mortal } = house;
        const told = (async () => {
          const output = run();
          output.catch(() => undefined); // of a process that is gone
          await timersSet(1);
          const paid = { type: 'event.send', event: { type: 'pay', amount: 3 } } as never;
          const idempotency = { scope: 'story', key: 'pay', hash: 'pay' };
          await house.supervisor.ask('execution', 'o1', paid, { idempotency });
          await timersSet(3);
          await house.environment.advance(60);
          return output;
        })();
        const answer = await Promise.race([told.then((output) => ({ output })), mortal.death]);
        if (answer !== undefined) return answer.output;
        await crash();
      }
      throw new Error('it died more than once');
    }

    it('before or after any write, loses nothing and does nothing twice that was noted', async () => {
      expect(await story()).to.deep.equal(end);
      const { writes } = house.mortal;
      expect(writes).to.be.greaterThan(10);
      for (let write = 1; write <= writes; write += 1)
        for (const when of ['before', 'after'] as const) {
          await house.stop();
          house = await openHouse(kinds);
          for (const done of Object.values(deeds) as string[][]) done.length = 0;
          house.mortal.dieAt(write, when);
          expect(await story(), `${when} write ${write}`).to.deep.equal(end);
          const doubled = [deeds.actions, deeds.steps].flatMap((all) => all.length - new Set(all).size);
          expect(Math.max(...doubled), `${when} write ${write}: what a crash cut off, once`).to.be.at.most(1);
          if (when === 'after') expect(Math.max(...doubled), `after write ${write}`).to.equal(0);
          const names = (await entries()).flatMap(({ name }) => name ?? []);
          expect(names, 'each is noted once').to.have.length(new Set(names).size);
          expect(house.faults).to.deep.equal([]);
        }
    });
  });
});
