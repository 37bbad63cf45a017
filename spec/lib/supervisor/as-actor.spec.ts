import { expect } from 'chai';
import type { Json } from '../../../machines/outputs.js';
import { assign, createActor, sendTo, setup, type AnyActorRef } from 'xstate';
import { asActor, type DurableInput } from '../../../lib/supervisor/as-actor.js';
import { childKind, counterKind } from '../../fixtures/kinds.js';
import { openHouse, seen, type House } from '../../fixtures/house.js';

describe('asActor', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse([counterKind(), childKind()]);
  });
  afterEach(() => house.stop());

  /** A host's own machine with one durable child. */
  const hostMachine = (
    kind: string,
    input: DurableInput,
    done?: (view: Record<string, unknown>) => boolean,
  ) =>
    setup({
      types: {
        context: {} as { got: unknown },
        events: {} as { type: 'pass'; n: number } | { type: 'leave' },
      },
      actors: {
        agent: asActor(
          house.supervisor,
          kind,
          done === undefined ? {} : { done: (view) => done(view as Record<string, Json>) },
        ),
      },
    }).createMachine({
      context: { got: null },
      initial: 'working',
      states: {
        working: {
          invoke: {
            id: 'agent',
            src: 'agent',
            input,
            onDone: { target: 'happy', actions: assign({ got: ({ event }) => event.output }) },
            onError: {
              target: 'sad',
              actions: assign({ got: ({ event }) => (event.error as Error).message }),
            },
          },
          on: {
            pass: { actions: sendTo('agent', ({ event }) => ({ type: 'add', n: event.n })) },
            leave: 'left',
          },
        },
        happy: {},
        sad: {},
        left: {},
      },
    });
  const value = (host: AnyActorRef): unknown => (host.getSnapshot() as { value: unknown }).value;

  it('creates a durable child, passes events through and ends the invoke with its view', async () => {
    const host = createActor(
      hostMachine('counter', { id: 'agent', input: { n: 1 } }, ({ n }) => (n as number) >= 5),
    ).start();
    await house.environment.settle();
    host.send({ type: 'pass', n: 2 });
    await house.environment.settle();
    expect([value(host), seen(await house.supervisor.get('counter', 'agent'))['n']]).to.deep.equal([
      'working',
      3,
    ]);
    host.send({ type: 'pass', n: 2 });
    await house.environment.settle();
    expect(value(host)).to.equal('happy');
    expect(host.getSnapshot().context.got).to.include({ n: 5 });
    host.stop();
  });

  it('is done when the machine of the durable actor has ended', async () => {
    const host = createActor(hostMachine('counter', { id: 'agent' })).start();
    await house.environment.settle();
    await house.supervisor.ask('counter', 'agent', { type: 'close' });
    await house.environment.settle();
    expect(value(host)).to.equal('happy');
    host.stop();
  });

  it('tells the host the error that ended the durable actor', async () => {
    const host = createActor(hostMachine('child', { id: 'agent' })).start();
    await house.environment.settle();
    await house.supervisor.ask('child', 'agent', { type: 'crash' });
    await house.environment.settle();
    expect(value(host)).to.equal('sad');
    host.stop();
  });

  it('tells the host when the durable actor cannot be made', async () => {
    const host = createActor(hostMachine('counter', { id: 'no such id' })).start();
    await house.environment.settle();
    expect([value(host), host.getSnapshot().context.got]).to.deep.equal([
      'sad',
      'Invalid id "no such id": 1 to 200 of A–Z a–z 0–9 . _ : - are allowed.',
    ]);
    host.stop();
  });

  it('attaches to an actor that lives already, also to one that has ended', async () => {
    await house.supervisor.spawn('counter', { id: 'agent', input: { n: 7 } });
    const host = createActor(
      hostMachine('counter', { id: 'agent', input: { n: 0 } }, ({ n }) => n === 8),
    ).start();
    await house.environment.settle();
    host.send({ type: 'pass', n: 1 });
    await house.environment.settle();
    expect(value(host)).to.equal('happy');
    await house.supervisor.ask('counter', 'agent', { type: 'close' });
    const second = createActor(hostMachine('counter', { id: 'agent' })).start();
    await house.environment.settle();
    expect(value(second)).to.equal('happy');
  });

  it('attaches two hosts that begin at the same moment to one actor', async () => {
    const hosts = [1, 2].map(() =>
      createActor(hostMachine('counter', { id: 'agent' }, ({ n }) => n === 1)).start(),
    );
    await house.environment.settle();
    hosts[0]?.send({ type: 'pass', n: 1 });
    await house.environment.settle();
    expect(hosts.map(value)).to.deep.equal(['happy', 'happy']);
  });

  it('misses nothing that happens while it attaches', async () => {
    await house.supervisor.spawn('counter', { id: 'agent' });
    await house.restart();
    const closing = house.supervisor.ask('counter', 'agent', { type: 'close' });
    const host = createActor(hostMachine('counter', { id: 'agent' })).start();
    await closing;
    await house.environment.settle();
    expect(value(host)).to.equal('happy');
  });

  it('attaches again when the host is restored from its own persisted snapshot', async () => {
    const machine = hostMachine('counter', {}, ({ n }) => n === 4);
    const host = createActor(machine).start();
    await house.environment.settle();
    host.send({ type: 'pass', n: 3 });
    await house.environment.settle();
    const persisted = JSON.parse(JSON.stringify(host.getPersistedSnapshot())) as never;
    host.stop();
    await house.restart();
    const again = createActor(
      hostMachine('counter', {}, ({ n }) => n === 4),
      { snapshot: persisted },
    ).start();
    await house.environment.settle();
    again.send({ type: 'pass', n: 1 });
    await house.environment.settle();
    expect(value(again)).to.equal('happy');
    expect((await house.log()).filter(({ from }) => from === null)).to.have.length(1);
  });

  it('lets go of the durable actor when the host leaves or stops; it lives on', async () => {
    const host = createActor(hostMachine('counter', { id: 'agent' })).start();
    await house.environment.settle();
    host.send({ type: 'leave' });
    await house.supervisor.ask('counter', 'agent', { type: 'close' });
    await house.environment.settle();
    expect(value(host)).to.equal('left');
    host.stop();
    const other = createActor(hostMachine('counter', { id: 'other' })).start();
    other.stop();
    await house.environment.settle();
    expect(seen(await house.supervisor.ask('counter', 'other', { type: 'add', n: 1 }))).to.include({ n: 1 });
    expect(house.faults).to.deep.equal([]);
  });

  it('can be spawned as well as invoked', async () => {
    const machine = setup({
      types: { context: {} as { child: AnyActorRef | undefined } },
      actors: { agent: asActor(house.supervisor, 'counter') },
    }).createMachine({
      context: ({ spawn }) => ({
        child: spawn('agent', { id: 'kid', input: { id: 'spawned' } }) as AnyActorRef,
      }),
    });
    const host = createActor(machine).start();
    await house.environment.settle();
    expect(host.getSnapshot().context.child?.getSnapshot()).to.deep.include({
      status: 'active',
      id: 'spawned',
      view: { n: 0, rang: 0, notes: 0, ms: 0, state: 'open' },
    });
    host.stop();
  });
});
