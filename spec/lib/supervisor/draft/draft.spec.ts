import { expect } from 'chai';
import { assign, emit, setup, spawnChild } from 'xstate';
import type { Kind } from '../../../../actors/contracts.js';
import { StoreError } from '../../../../lib/store/contract.js';
import { effect, sendToActor, type Json } from '../../../../machines/outputs.js';
import { refuse } from '../../../../machines/refusals.js';
import { openHouse, rejection, type House } from '../../../fixtures/house.js';
import { workerKind } from '../../../fixtures/kinds.js';

/** What a commit writes beside the record: lists, children, messages. And who may refuse it. */
const machine = setup({
  types: {
    context: {} as { n: number; heard: Json[] },
    events: {} as
      | { type: 'add' }
      | { type: 'move' }
      | { type: 'bear'; name: string }
      | { type: 'write'; to: string }
      | { type: 'letter'; when: Json },
    input: {} as { over?: boolean },
  },
  actors: { child: effect<Json, Json>() },
}).createMachine({
  id: 'card',
  context: { n: 0, heard: [] },
  initial: 'left',
  on: {
    add: { actions: assign({ n: ({ context }) => context.n + 1 }) },
    bear: {
      actions: spawnChild('child', {
        id: 'kid',
        systemId: 'the-only-one',
        input: (({ event }: { event: { name: string } }) => ({ name: event.name })) as never,
      } as never),
    },
    write: {
      actions: emit((({ event }: { event: { to: string } }) =>
        sendToActor({ kind: 'card', id: event.to }, {
          type: 'letter',
          when: new Date(0),
        } as never)) as never),
    },
    letter: {
      actions: assign({
        heard: (({ context, event }: { context: { heard: Json[] }; event: { when: Json } }) => [
          ...context.heard,
          typeof event.when,
        ]) as never,
      }),
    },
  } as never, // XState's types cannot follow a map that is shared by all states
  states: { left: { on: { move: 'right' } }, right: { on: { move: 'over' } }, over: { type: 'final' } },
});
const card: Kind<typeof machine> = {
  kind: 'card',
  version: 1,
  machine,
  view: ({ context, value }) => ({ ...context, value }),
  childKinds: { child: 'card' },
  index: ({ value, context }) => [{ index: value, key: 'same', row: { n: context.n } }],
  validateInput: (input) =>
    (input as { name?: string }).name === 'unwanted' ? refuse('FORBIDDEN', {}, 'Not that one.') : undefined,
};

describe('what a commit writes', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse([card as unknown as Kind]);
    await house.supervisor.spawn('card', { id: 'c' });
  });
  afterEach(() => house.stop());
  const send = (type: string, more: object = {}) => house.supervisor.ask('card', 'c', { type, ...more });
  const list = async (index: string) =>
    (await house.supervisor.list('card', { index })).items.map(({ id, row }) => [id, row]);

  it('shows in a list what changed of an actor that stays in its place', async () => {
    await send('add');
    expect(await list('left')).to.deep.equal([['c', { n: 1 }]]);
  });

  it('takes an actor out of the list that it left, also where it has the same place in another', async () => {
    await send('move');
    expect([await list('left'), await list('right')]).to.deep.equal([[], [['c', { n: 0 }]]]);
  });

  it('creates no one whom his kind refuses: by request, in a plan, as a child', async () => {
    const input = { name: 'unwanted' };
    expect(await house.supervisor.spawn('card', { id: 'x', input })).to.include({ code: 'FORBIDDEN' });
    expect(
      await house.supervisor.transact({
        name: 'plan',
        actors: [],
        run: (tx) => {
          tx.create('card', 'x', { input });
          return null;
        },
      }),
    ).to.include({ code: 'FORBIDDEN' });
    expect((await rejection(send('bear', { name: 'unwanted' }))).message).to.match(
      /the-only-one was refused: Not that one/,
    );
    expect([
      await house.supervisor.get('card', 'x'),
      await house.supervisor.get('card', 'the-only-one'),
    ]).to.deep.equal([undefined, undefined]);
    expect(
      (await house.supervisor.why({ kind: 'card', id: 'c' }, { type: 'operator' }))?.actor,
    ).to.deep.include({ revision: 2 }); // created, and failed once
  });

  it("answers when it could not be read whether a child's name is free, and takes events again", async () => {
    const { getMany } = house.mortal;
    house.mortal.getMany = () => {
      house.mortal.getMany = getMany;
      return Promise.reject(new StoreError('STORE_UNAVAILABLE', 'not now'));
    };
    expect(await rejection(send('bear', { name: 'kid' }))).to.include({ code: 'STORE_UNAVAILABLE' });
    expect(await send('bear', { name: 'kid' })).to.not.have.property('code');
    expect((await house.supervisor.get('card', 'the-only-one'))?.revision).to.equal(1);
  });

  it('says in a rehearsal, too, that the name of a child is taken', async () => {
    await house.supervisor.spawn('card', { id: 'the-only-one' });
    for (const dryRun of [true, false])
      expect(
        (await rejection(house.supervisor.ask('card', 'c', { type: 'bear', name: 'kid' }, { dryRun })))
          .message,
      ).to.match(/already exists/);
  });

  it('lets two actors of one plan not both bear a child under one durable name', async () => {
    await house.supervisor.spawn('card', { id: 'd' });
    const both = house.supervisor.transact({
      name: 'both',
      actors: [
        { kind: 'card', id: 'c' },
        { kind: 'card', id: 'd' },
      ],
      run: (tx) => {
        for (const id of ['c', 'd'])
          tx.send({ kind: 'card', id }, { type: 'bear', name: `of ${id}` } as never);
        return null;
      },
    });
    expect((await rejection(both)).message).to.match(/card the-only-one already exists/);
    expect(await house.supervisor.get('card', 'the-only-one')).to.equal(undefined);
  });

  it('tells another actor what it will read again after a crash: JSON, whatever the machine said', async () => {
    await house.supervisor.spawn('card', { id: 'd' });
    await send('write', { to: 'd' });
    await house.environment.settle();
    expect((await house.supervisor.get('card', 'd'))?.view).to.deep.include({ heard: ['string'] });
  });

  it('lets no policy refuse the result of an effect: it is a fact, and its actor would wait for ever', async () => {
    const strict = workerKind(
      { guarantee: 'at-least-once', run: async () => 'done' },
      { policy: (_snapshot, event) => (event.type === 'go' ? undefined : refuse('FORBIDDEN')) },
    );
    await house.restart([strict]);
    await house.supervisor.spawn('worker', { id: 'w' });
    await house.supervisor.ask('worker', 'w', { type: 'go', input: null });
    await house.environment.settle();
    expect((await house.supervisor.get('worker', 'w'))?.view).to.deep.include({
      state: 'idle',
      results: ['done'],
    });
  });

  it('holds the whole snapshot in every 32nd entry of an actor, so that reading the past is short', async () => {
    for (let n = 0; n < 100; n += 1) await send('add');
    const wholes = (await house.log()).flatMap(({ snapshot }, n) =>
      'whole' in (snapshot as object) ? [n] : [],
    );
    expect(wholes).to.deep.equal([0, 32, 64, 96]);
  });

  it('forgets an actor that had ended at its creation', async () => {
    const ended = setup({}).createMachine({
      id: 'ended',
      initial: 'over',
      states: { over: { type: 'final' } },
    });
    const kind: Kind<typeof ended> = {
      kind: 'ended',
      version: 1,
      machine: ended,
      view: () => null,
      forgetAfterMs: 60_000,
    };
    await house.restart([kind as unknown as Kind]);
    await house.supervisor.spawn('ended', { id: 'e' });
    await house.environment.advance(70_000);
    expect(await house.supervisor.get('ended', 'e')).to.equal(undefined);
  });
});
