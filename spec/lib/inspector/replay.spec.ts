import { expect } from 'chai';
import fc from 'fast-check';
import { assign, setup } from 'xstate';
import type { Kind } from '../../../actors/contracts.js';
import { sessionKind } from '../../../actors/session/kind.js';
import { workItemKind } from '../../../actors/work-item/kind.js';
import type { Bundle } from '../../../lib/inspector/bundle.js';
import { makeBundle } from '../../../lib/inspector/make-bundle.js';
import { replayBundle } from '../../../lib/inspector/replay-bundle.js';
import { isRefusal } from '../../../machines/refusals.js';
import { openHouse, type House } from '../../fixtures/house.js';

/**
 * A bundle is what happened, without what people wrote; replayed by the same machines it comes to the same.
 */
const secret = 'the launch code is 0000';
const turn = {
  guarantee: 'at-most-once' as const,
  run: async (_input: unknown, context: { checkpoint(data: null): Promise<void> }) => {
    await context.checkpoint(null);
    return { outcome: 'succeeded' as const, text: `${secret}, said the agent` };
  },
  recover: async () => ({ outcome: 'interrupted' as const, text: '' }),
};
const kinds = [sessionKind({ turn }), workItemKind()] as unknown as readonly Kind[];

describe('bundle and replay', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse(kinds);
    await house.supervisor.spawn('work-item', {
      id: 'w1',
      input: {
        title: secret,
        body: `Because ${secret}.`,
        acceptance: null,
        assignee: null,
        department: null,
        verifyPolicy: null,
        source: 'human',
        sourceRef: null,
        createdBy: 'operator',
      },
    });
    await house.supervisor.spawn('session', {
      id: 's1',
      input: {
        engine: 'pen',
        model: null,
        effort: null,
        employee: null,
        parentSessionId: null,
        ancestors: [],
        workItemId: 'w1',
        title: null,
        cwd: `/home/${secret}`,
        source: 'web',
        sourceRef: null,
        interruptOnNewMessage: true,
        turnDeadlineMs: 60_000,
        message: { id: 'm0', content: `${secret}: do it.\nSecond line.`, role: 'user', kind: 'user' },
      },
    });
    await house.environment.settle();
    const by = { type: 'session', id: 's1', employee: 'ann', ancestors: [] } as const;
    for (const event of [
      { type: 'item.move', status: 'blocked', note: secret },
      { type: 'item.comment', commentId: 'c1', text: secret },
      { type: 'item.edit', patch: { title: `${secret}!` }, expectedVersion: 99 },
    ]) {
      await house.supervisor.ask('work-item', 'w1', event);
    }
    await house.supervisor.ask('work-item', 'w1', { type: 'item.move', status: 'executing' }, { by });
    await house.supervisor.ask('session', 's1', {
      type: 'message.post',
      message: { id: 'm1', content: secret, role: 'user', kind: 'user' },
    });
    await house.supervisor.ask('session', 's1', { type: 'session.patch', title: `New ${secret}` });
    await house.environment.settle();
  });
  afterEach(() => house.stop());

  const bundle = async (query: Parameters<typeof makeBundle>[1]): Promise<Bundle> =>
    JSON.parse(JSON.stringify(await makeBundle(house.supervisor, query))) as Bundle;

  it('holds nothing of what was written, said, or where', async () => {
    const text = JSON.stringify(await bundle({ from: 1 }));
    expect(text).to.not.include('launch').and.not.include('Second line');
    expect((JSON.parse(text) as Bundle).actors.map(({ kind, id }) => `${kind}/${id}`)).to.have.members([
      'work-item/w1',
      'session/s1',
    ]);
  });

  it('comes to the same state after every entry, from the creation of its actors', async () => {
    const report = replayBundle(await bundle({ from: 1 }), kinds);
    expect(report.actors.map(({ differs }) => differs)).to.deep.equal([null, null]);
    expect(report).to.include({ same: true, entries: house.supervisor.status.position });
    expect(report.machines).to.deep.equal([]);
  });

  it('comes to the same from the middle of a life, for one actor and for a range of the log', async () => {
    const head = house.supervisor.status.position;
    for (let from = 2; from <= head; from += 1) {
      const slice = await bundle({ from });
      const leaks = JSON.stringify(slice, null, 1)
        .split('\n')
        .filter((line) => line.includes('launch'));
      expect(leaks, `from ${from}`).to.deep.equal([]);
      const report = replayBundle(slice, kinds);
      expect(
        report.actors.filter(({ differs }) => differs !== null),
        `from ${from}`,
      ).to.deep.equal([]);
    }
    const own = await bundle({ actor: { kind: 'session', id: 's1' }, from: 4, to: head - 1 });
    expect(own.actors).to.have.length(1);
    expect(replayBundle(own, kinds).same).to.equal(true);
    expect(await makeBundle(house.supervisor, { actor: { kind: 'session', id: 'nobody' } })).to.equal(
      undefined,
    );
  });

  it('comes to the same whatever happened, no matter who asked, also where it was refused', async () => {
    const words = fc.constantFrom('', 'x', 'a note that says much', 'two\nlines', '▒ mark', '🎭 masks');
    const person = { type: 'operator' } as const;
    const agents = [
      person,
      { type: 'session', id: 's1', employee: 'ann', ancestors: [] },
      { type: 'session', id: 's9', employee: null, ancestors: ['s1'] },
      { type: 'device', id: 'd1' },
    ] as const;
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('work-item'),
        event: fc.record({
          type: fc.constant('item.move'),
          status: fc.constantFrom('executing', 'in_review', 'blocked', 'escalated', 'done', 'backlog'),
          note: words,
        }),
      }),
      fc.record({
        kind: fc.constant('work-item'),
        event: fc.record({
          type: fc.constant('approval.request'),
          requestId: fc.uuid(),
          request: words,
          target: fc.constant(null),
          targetKind: fc.constant('root'),
        }),
      }),
      fc.record({
        kind: fc.constant('work-item'),
        event: fc.record({
          type: fc.constant('approval.decide'),
          decision: fc.constantFrom('approve', 'reject'),
          note: words,
        }),
      }),
      fc.record({
        kind: fc.constant('work-item'),
        event: fc.record({
          type: fc.constantFrom('item.comment', 'item.archive', 'approval.escalate'),
          commentId: fc.uuid(),
          text: words,
          note: words,
          reason: words,
        }),
      }),
      fc.record({
        kind: fc.constant('session'),
        event: fc.record({
          type: fc.constant('message.post'),
          message: fc.record({
            id: fc.uuid(),
            content: words,
            role: fc.constant('user'),
            kind: fc.constantFrom('user', 'agent'),
          }),
        }),
      }),
      fc.record({
        kind: fc.constant('session'),
        event: fc.record({
          type: fc.constantFrom(
            'session.stop',
            'queue.pause',
            'queue.resume',
            'queue.clear',
            'session.archive',
            'session.unarchive',
            'session.reset',
          ),
          reason: words,
        }),
      }),
      fc.record({
        kind: fc.constant('session'),
        event: fc.record({ type: fc.constant('session.patch'), title: words }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.constantFrom(...agents), fc.boolean()), { maxLength: 25 }),
        fc.nat(20),
        async (steps, from) => {
          for (const [{ kind, event }, by, rest] of steps) {
            await house.supervisor.ask(kind, kind === 'session' ? 's1' : 'w1', event, { by });
            if (rest) await house.environment.advance(1_000);
          }
          await house.environment.settle();
          for (const start of [1, 1 + (from % house.supervisor.status.position)]) {
            const report = replayBundle(await bundle({ from: start }), kinds);
            expect(
              report.actors.map(({ differs }) => differs).filter((differs) => differs !== null),
            ).to.deep.equal([]);
          }
        },
      ),
      { numRuns: 40 },
    );
  }).timeout(180_000);

  it('says at which entry, and in which members, a changed machine comes to something else', async () => {
    const counter = (by: number, version = 1): Kind => {
      const machine = setup({
        types: {} as {
          context: { n: number; text: string };
          events: { type: 'add' } | { type: 'say'; text: string };
        },
        actions: {
          add: assign({ n: ({ context }) => context.n + (context.n > 2 ? by : 1) }),
          say: assign({ text: ({ event }) => (event as { text: string }).text.slice(0, 5) }),
        },
      }).createMachine({
        id: 'counter',
        context: { n: 0, text: '' },
        initial: 'on',
        states: { on: { on: { add: { actions: 'add' }, say: { actions: 'say' } } } },
      });
      return {
        kind: 'counter',
        version,
        machine,
        view: ({ context }) => context,
        redacted: ['text'],
      } as Kind<typeof machine> as unknown as Kind;
    };
    const other = await openHouse([counter(1)]);
    await other.supervisor.spawn('counter', { id: 'c' });
    await other.supervisor.ask('counter', 'c', { type: 'say', text: 'hello, launch' });
    for (let n = 0; n < 5; n += 1) await other.supervisor.ask('counter', 'c', { type: 'add' });
    const made = (await makeBundle(other.supervisor, { from: 1 })) as Bundle;
    await other.stop();
    expect(JSON.stringify(made)).to.not.include('hello');
    expect(replayBundle(made, [counter(1)]).same).to.equal(true);
    const report = replayBundle(made, [counter(2, 2)]);
    expect(report.same).to.equal(false);
    expect(report.machines).to.deep.equal([{ kind: 'counter', about: 'other version' }]);
    expect(report.actors[0]?.differs).to.deep.include({ seq: 6, event: 'add', members: ['n'] });
    expect(replayBundle(made, [])).to.deep.include({
      same: false,
      machines: [{ kind: 'counter', about: 'unknown' }],
    });
  });

  it('begins with the migrated state where an earlier version decided what was before', async () => {
    const counter = (version: number): Kind => {
      const machine = setup({
        types: {} as { context: { n: number }; events: { type: 'add' } },
        actions: { add: assign({ n: ({ context }) => context.n + version }) },
      }).createMachine({
        id: 'counter',
        context: { n: 0 },
        initial: 'on',
        states: { on: { on: { add: { actions: 'add' } } } },
      });
      return {
        kind: 'counter',
        version,
        machine,
        view: ({ context }) => context,
        migrate: { 1: (old) => ({ ...old, context: { n: Number(old.context['n']) * 100 } }) },
      } as Kind<typeof machine> as unknown as Kind;
    };
    const other = await openHouse([counter(1)]);
    await other.supervisor.spawn('counter', { id: 'c' });
    await other.supervisor.ask('counter', 'c', { type: 'add' });
    await other.restart([counter(2)]);
    for (let n = 0; n < 3; n += 1) await other.supervisor.ask('counter', 'c', { type: 'add' });
    const made = (await makeBundle(other.supervisor, { from: 1 })) as Bundle;
    await other.stop();
    expect(made.actors[0]?.start).to.deep.equal({ seq: 3, state: { value: 'on', context: { n: 102 } } });
    expect(made.actors[0]?.entries.map(({ version }) => version)).to.deep.equal([2, 2]);
    expect(replayBundle(made, [counter(2)]).same).to.equal(true);
  });

  it('knows in the middle of a life where a region with history stood when it was left', async () => {
    const machine = setup({
      types: {} as { context: object; events: { type: 'next' | 'pause' | 'go on' } },
    }).createMachine({
      id: 'book',
      context: {},
      initial: 'open',
      states: {
        open: {
          initial: 'one',
          on: { pause: 'shut' },
          states: {
            one: { on: { next: 'two' } },
            two: { on: { next: 'three' } },
            three: {},
            again: { type: 'history' },
          },
        },
        shut: { on: { 'go on': 'open.again' } },
      },
    });
    const book = { kind: 'book', version: 1, machine, view: ({ value }) => ({ value }) } as Kind<
      typeof machine
    > as unknown as Kind;
    const other = await openHouse([book]);
    await other.supervisor.spawn('book', { id: 'b' });
    for (const type of ['next', 'pause', 'go on', 'next', 'pause', 'go on'])
      await other.supervisor.ask('book', 'b', { type });
    for (let from = 1; from <= other.supervisor.status.position; from += 1) {
      const made = (await makeBundle(other.supervisor, { from })) as Bundle;
      expect(replayBundle(made, [book]).actors[0]?.differs, `from ${from}`).to.equal(null);
    }
    expect((await other.supervisor.get('book', 'b'))?.value).to.deep.equal({ open: 'three' });
    await other.stop();
  });

  it('notices a bundle that was tampered with', async () => {
    const made = await bundle({ actor: { kind: 'work-item', id: 'w1' } });
    const [actor] = made.actors as [Bundle['actors'][number]];
    const forged = {
      ...made,
      actors: [
        {
          ...actor,
          entries: actor.entries.map((entry) =>
            entry.event.type === 'item.move'
              ? { ...entry, event: { ...entry.event, status: 'in_review' } }
              : entry,
          ),
        },
      ],
    };
    expect(replayBundle(forged, kinds).actors[0]?.differs?.event).to.equal('item.move');
    expect(isRefusal(made)).to.equal(false);
  });
});
