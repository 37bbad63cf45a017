import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import {
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  fromPromise,
  raise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
  stopChild,
  type AnyStateMachine,
} from 'xstate';
import { parentTarget, selfTarget, type Action } from '../../../../actors/driver.js';
import { driverFor, publicXState5, scopedXState5, xstate5 } from '../../../../lib/supervisor/draft/driver.js';
import { effect } from '../../../../machines/outputs.js';

/**
 * What the driver relies on in XState. If one of these fails after an upgrade, the driver must change, not
 * the spec.
 */
let { begin, persist, restore, step } = scopedXState5;
const machineOf = (
  config: Record<string, unknown>,
  implementations: Record<string, unknown> = {},
): AnyStateMachine =>
  setup({ actors: { deed: effect() }, ...implementations } as never).createMachine(
    config as never,
  ) as unknown as AnyStateMachine; // the configurations here are too many for XState's types

const started = (config: Record<string, unknown>, implementations?: Record<string, unknown>) => {
  const machine = machineOf(config, implementations);
  return { machine, ...begin(machine, { n: 1 }) };
};
const types = (actions: readonly Action[]): string[] => actions.map(({ type }) => type);

/** To disk and back, as a sleeping actor goes. */
const slept = (
  machine: AnyStateMachine,
  snapshot: Parameters<typeof persist>[1],
  children: Record<string, string> = {},
) => restore(machine, JSON.parse(JSON.stringify(persist(machine, snapshot))), children);

const ways = { 'its actor scope': scopedXState5, 'its public functions': publicXState5 };
for (const [way, driver] of Object.entries(ways))
  describe(`the driver of XState 5 by ${way}`, () => {
    before(() => ({ begin, persist, restore, step } = driver));
    behaviours();
  });

describe('the driver of XState 5', () => {
  it('goes by the actor scope, unless that comes to something else than the public functions or throws', () => {
    expect(xstate5).to.equal(scopedXState5);
    expect(
      driverFor({
        ...scopedXState5,
        begin: () => ({ ...scopedXState5.begin(machineOf({}), {}), taken: false }),
      }),
    ).to.deep.equal({ driver: publicXState5, fault: 'its actor scope comes to something else' });
    const gone = () => {
      throw new TypeError('the scope has no such member');
    };
    expect(driverFor({ ...scopedXState5, step: gone })).to.deep.equal({
      driver: publicXState5,
      fault: 'its actor scope fails: the scope has no such member',
    });
    expect(driverFor(scopedXState5)).to.deep.equal({ driver: scopedXState5 });
  });
});

function behaviours(): void {
  it('stands on the XState version that it was measured on', () => {
    expect(JSON.parse(readFileSync('node_modules/xstate/package.json', 'utf8'))).to.include({
      version: '5.33.3',
    });
  });

  describe('begin', () => {
    it('gives the input to the context and reports entry actions', () => {
      const { snapshot, actions } = started({
        context: ({ input }: { input: unknown }) => ({ given: input }),
        initial: 'a',
        states: { a: { entry: emit({ type: 'hello' }) } },
      });
      expect(snapshot.context).to.deep.equal({ given: { n: 1 } });
      expect(actions).to.deep.equal([{ type: 'emit', event: { type: 'hello' } }]);
    });

    it('throws what the context or an entry action throws', () => {
      expect(() =>
        started({
          context: () => {
            throw new Error('no context');
          },
        }),
      ).to.throw('no context');
      expect(() =>
        started({
          context: {},
          entry: assign(() => {
            throw new Error('no entry');
          }),
        }),
      ).to.throw('no entry');
    });

    it('follows eventless transitions at once', () => {
      expect(started({ initial: 'a', states: { a: { always: 'b' }, b: {} } }).snapshot.value).to.equal('b');
    });
  });

  describe('step', () => {
    it('leaves the snapshot that it was given as it was', () => {
      const { machine, snapshot } = started({
        context: { n: 0 },
        on: { add: { actions: assign({ n: ({ context }) => (context as { n: number }).n + 1 }) } },
      });
      const next = step(machine, snapshot, { type: 'add' });
      expect([snapshot.context, next.snapshot.context]).to.deep.equal([{ n: 0 }, { n: 1 }]);
    });

    it('says whether any transition was taken', () => {
      const { machine, snapshot } = started({
        context: { n: 0 },
        on: { known: {}, closed: { guard: () => false } },
      });
      expect(step(machine, snapshot, { type: 'known' }).taken).to.equal(true);
      expect(step(machine, snapshot, { type: 'unknown' }).taken).to.equal(false);
      expect(step(machine, snapshot, { type: 'closed' }).taken).to.equal(false);
    });

    it('throws what a guard or an assigner throws and goes on working', () => {
      const { machine, snapshot } = started({
        context: {},
        on: {
          guard: {
            guard: () => {
              throw new Error('guard');
            },
          },
          assign: {
            actions: assign(() => {
              throw new Error('assigner');
            }),
          },
          ok: {},
        },
      });
      expect(() => step(machine, snapshot, { type: 'guard' })).to.throw('guard');
      expect(() => step(machine, snapshot, { type: 'assign' })).to.throw('assigner');
      expect(step(machine, snapshot, { type: 'ok' })).to.deep.include({ taken: true, actions: [] });
    });

    it('applies a raise without delay itself and reports one with a delay as a timer', () => {
      const { machine, snapshot } = started({
        context: { n: 0 },
        on: {
          now: { actions: raise({ type: 'bump' }) },
          soon: { actions: raise({ type: 'bump' }, { delay: 500, id: 'mine' }) },
          never: { actions: cancel('mine') },
          bump: { actions: assign({ n: ({ context }) => (context as { n: number }).n + 1 }) },
        },
      });
      const now = step(machine, snapshot, { type: 'now' });
      expect(now.snapshot.context).to.deep.equal({ n: 1 });
      expect(now.actions).to.deep.equal([]);
      const soon = step(machine, snapshot, { type: 'soon' });
      expect(soon.snapshot.context).to.deep.equal({ n: 0 });
      expect(soon.actions).to.deep.equal([
        { type: 'timer', id: 'mine', event: { type: 'bump' }, delayMs: 500, target: selfTarget },
      ]);
      expect(step(machine, snapshot, { type: 'never' }).actions).to.deep.equal([
        { type: 'cancel', id: 'mine' },
      ]);
    });

    it('reports `after` as a timer that leaving the state cancels under the same id', () => {
      const { machine, snapshot, actions } = started(
        {
          context: { ms: 2 ** 31 + 5 },
          initial: 'a',
          states: { a: { after: { wait: 'b' }, on: { go: 'b' } }, b: {} },
        },
        { delays: { wait: ({ context }: { context: { ms: number } }) => context.ms } },
      );
      const [timer] = actions as readonly Extract<Action, { type: 'timer' }>[];
      expect(timer).to.deep.include({ type: 'timer', delayMs: 2 ** 31 + 5, target: selfTarget });
      expect(step(machine, snapshot, { type: 'go' }).actions).to.deep.equal([
        { type: 'cancel', id: timer?.id },
      ]);
      expect(step(machine, snapshot, timer?.event as never).snapshot.value).to.equal('b');
    });

    it('reports invokes as starts and their end as stops, also after a sleep', () => {
      const { machine, snapshot } = started({
        initial: 'idle',
        states: {
          idle: { on: { go: 'busy' } },
          busy: { invoke: { id: 'work', src: 'deed', input: { n: 7 } }, on: { leave: 'idle' } },
        },
      });
      const busy = step(machine, snapshot, { type: 'go' });
      expect(busy.actions).to.deep.equal([
        { type: 'start', id: 'work', src: 'deed', input: { n: 7 }, systemId: undefined },
      ]);
      for (const now of [busy.snapshot, slept(machine, busy.snapshot, { work: 'deed' })]) {
        expect(step(machine, now, { type: 'leave' }).actions).to.deep.equal([{ type: 'stop', id: 'work' }]);
      }
    });

    it('stops and starts an invoke that is entered again, in this order', () => {
      const { machine, snapshot } = started({
        initial: 'busy',
        states: {
          busy: { invoke: { id: 'work', src: 'deed' }, on: { again: { target: 'busy', reenter: true } } },
        },
      });
      expect(types(step(machine, snapshot, { type: 'again' }).actions)).to.deep.equal(['stop', 'start']);
    });

    it('reports spawnChild and stopChild, also after a sleep', () => {
      const { machine, snapshot } = started({
        on: {
          spawn: { actions: spawnChild('deed', { id: 'kid', systemId: 'durable-kid', input: 3 }) },
          stop: { actions: stopChild('kid') },
        },
      });
      const spawned = step(machine, snapshot, { type: 'spawn' });
      expect(spawned.actions).to.deep.equal([
        { type: 'start', id: 'kid', src: 'deed', input: 3, systemId: 'durable-kid' },
      ]);
      expect(step(machine, spawned.snapshot, { type: 'stop' }).actions).to.deep.equal([
        { type: 'stop', id: 'kid' },
      ]);
      const awake = slept(machine, spawned.snapshot, { kid: 'deed' });
      expect(step(machine, awake, { type: 'stop' }).actions).to.deep.equal([{ type: 'stop', id: 'kid' }]);
    });

    it('names the target of sendTo: child, parent, self, now or later', () => {
      const { machine, snapshot } = started({
        initial: 'busy',
        invoke: { id: 'work', src: 'deed' },
        states: {
          busy: {
            on: {
              child: { actions: sendTo('work', { type: 'x' }) },
              up: { actions: sendParent({ type: 'x' }) },
              me: { actions: sendTo(({ self }) => self, { type: 'x' }) },
              later: { actions: sendTo('work', { type: 'x' }, { delay: 9, id: 'l' }) },
            },
          },
        },
      });
      const send = (target: string) => [{ type: 'send', target, event: { type: 'x' } }];
      for (const now of [snapshot, slept(machine, snapshot, { work: 'deed' })]) {
        expect(step(machine, now, { type: 'child' }).actions).to.deep.equal(send('work'));
        expect(step(machine, now, { type: 'up' }).actions).to.deep.equal(send(parentTarget));
        expect(step(machine, now, { type: 'me' }).actions).to.deep.equal(send(selfTarget));
        expect(step(machine, now, { type: 'later' }).actions).to.deep.equal([
          { type: 'timer', id: 'l', event: { type: 'x' }, delayMs: 9, target: 'work' },
        ]);
      }
    });

    it('takes the end of an effect: done with its output, error to onError', () => {
      const { machine, snapshot } = started({
        context: { got: null },
        initial: 'busy',
        states: {
          busy: {
            invoke: {
              id: 'work',
              src: 'deed',
              onDone: {
                target: 'fine',
                actions: assign({ got: ({ event }) => (event as unknown as { output: unknown }).output }),
              },
              onError: {
                target: 'bad',
                actions: assign({ got: ({ event }) => (event as unknown as { error: unknown }).error }),
              },
            },
          },
          fine: {},
          bad: {},
        },
      });
      const awake = slept(machine, snapshot, { work: 'deed' });
      const fine = step(machine, awake, {
        type: 'xstate.done.actor.work',
        output: { n: 1 },
        actorId: 'work',
      });
      expect([fine.snapshot.value, fine.snapshot.context]).to.deep.equal(['fine', { got: { n: 1 } }]);
      const bad = step(machine, awake, {
        type: 'xstate.error.actor.work',
        error: { message: 'no' },
        actorId: 'work',
      });
      expect([bad.snapshot.value, bad.snapshot.context]).to.deep.equal(['bad', { got: { message: 'no' } }]);
    });

    it('ends with an error when no one handles the error of a child', () => {
      const { machine, snapshot } = started({
        initial: 'busy',
        states: { busy: { invoke: { id: 'work', src: 'deed' } } },
      });
      const after = step(machine, snapshot, {
        type: 'xstate.error.actor.work',
        error: { message: 'no' },
        actorId: 'work',
      });
      expect(after.snapshot.status).to.equal('error');
      expect(after.taken).to.equal(true);
    });

    it('remembers history through a sleep', () => {
      const { machine, snapshot } = started({
        initial: 'on',
        states: {
          on: {
            initial: 'one',
            states: { one: { on: { next: 'two' } }, two: {}, back: { type: 'history' } },
            on: { off: 'off' },
          },
          off: { on: { on: 'on.back' } },
        },
      });
      const off = step(machine, step(machine, snapshot, { type: 'next' }).snapshot, { type: 'off' }).snapshot;
      expect(step(machine, slept(machine, off), { type: 'on' }).snapshot.value).to.deep.equal({ on: 'two' });
    });

    it('runs parallel regions, each on its own', () => {
      const { machine, snapshot } = started({
        type: 'parallel',
        states: {
          left: { initial: 'a', states: { a: { on: { go: 'b' } }, b: {} } },
          right: { initial: 'a', states: { a: { on: { go: 'b', other: 'b' } }, b: {} } },
        },
      });
      const half = step(machine, slept(machine, snapshot), { type: 'other' }).snapshot;
      expect(half.value).to.deep.equal({ left: 'a', right: 'b' });
      expect(step(machine, slept(machine, half), { type: 'go' }).snapshot.value).to.deep.equal({
        left: 'b',
        right: 'b',
      });
    });

    it('tells the output of a machine that is done', () => {
      const { machine, snapshot } = started({
        initial: 'a',
        states: { a: { on: { end: 'z' } }, z: { type: 'final' } },
        output: { total: 3 },
      });
      const done = step(machine, snapshot, { type: 'end' }).snapshot;
      expect([done.status, done.output]).to.deep.equal(['done', { total: 3 }]);
      expect(slept(machine, done)).to.deep.include({ status: 'done', output: { total: 3 } });
    });

    it('keeps the order of the actions of one step', () => {
      const { machine, snapshot } = started({
        on: {
          all: {
            actions: [
              emit({ type: 'one' }),
              raise({ type: 'x' }, { delay: 1 }),
              emit({ type: 'two' }),
              enqueueActions(({ enqueue }) => {
                enqueue.emit({ type: 'three' });
              }),
            ],
          },
        },
      });
      expect(
        step(machine, snapshot, { type: 'all' }).actions.map((action) =>
          action.type === 'emit' ? action.event.type : action.type,
        ),
      ).to.deep.equal(['one', 'timer', 'two', 'three']);
    });
  });

  it('names a spawned child as its machine computes it', () => {
    const { machine, snapshot } = started({
      on: {
        spawn: {
          actions: spawnChild('deed', {
            id: ({ event }: { event: { name: string } }) => event.name,
          } as never),
        },
      },
    });
    expect(step(machine, snapshot, { type: 'spawn', name: 'Ada' }).actions).to.deep.equal([
      { type: 'start', id: 'Ada', src: 'deed', input: undefined, systemId: undefined },
    ]);
  });

  describe('refuses', () => {
    it('a spawned child without a name, or without logic that could be restored', () => {
      const nameless = started({ on: { go: { actions: spawnChild('deed') } } });
      expect(() => step(nameless.machine, nameless.snapshot, { type: 'go' })).to.throw('needs an id');
      const unknown = started({ on: { go: { actions: spawnChild('nothing' as never, { id: 'x' }) } } });
      expect(() => step(unknown.machine, unknown.snapshot, { type: 'go' })).to.throw(
        'does not define "nothing"',
      );
    });

    it('an inline actor, which no record could name', () => {
      const { machine, snapshot } = started({
        on: {
          go: {
            actions: spawnChild(
              fromPromise(async () => 1),
              { id: 'x' },
            ),
          },
        },
      });
      expect(() => step(machine, snapshot, { type: 'go' })).to.throw('inline actor');
    });

    it('a custom action, even one hidden in enqueueActions', () => {
      const plain = started({ on: { go: { actions: () => undefined } } });
      expect(() => step(plain.machine, plain.snapshot, { type: 'go' })).to.throw('custom action');
      const hidden = started({
        on: {
          go: {
            actions: enqueueActions(({ enqueue }) => {
              enqueue(() => undefined);
            }),
          },
        },
      });
      expect(() => step(hidden.machine, hidden.snapshot, { type: 'go' })).to.throw('custom action');
    });
  });

  describe('a step inside a step', () => {
    // An assigner that called back into the supervisor cost the outer step everything that it had asked for.
    it('takes nothing from the outer one: neither what it asked for nor whether a transition was taken', () => {
      const inner = started({
        on: { go: { actions: emit({ type: 'inner' } as never) }, no: { actions: raise({ type: 'x' }) } },
      });
      const machine = machineOf({
        context: { n: 0 },
        on: {
          go: {
            actions: [
              emit({ type: 'before' } as never),
              assign({
                n: () => {
                  types(step(inner.machine, inner.snapshot, { type: 'go' }).actions).push('inner');
                  begin(inner.machine, {});
                  return 1;
                },
              }),
              emit({ type: 'after' } as never),
            ],
          },
          look: {
            guard: () => !step(inner.machine, inner.snapshot, { type: 'unknown' }).taken,
            actions: assign({ n: 2 }),
          },
        },
      });
      const { snapshot } = begin(machine, {});
      const { actions, taken } = step(machine, snapshot, { type: 'go' });
      expect(actions).to.deep.equal([
        { type: 'emit', event: { type: 'before' } },
        { type: 'emit', event: { type: 'after' } },
      ]);
      expect(taken).to.equal(true);
      expect(step(machine, snapshot, { type: 'look' })).to.include({ taken: true });
    });

    it('that throws leaves the outer one what it had', () => {
      const inner = started({
        on: {
          go: {
            actions: [
              emit({ type: 'inner' } as never),
              assign(() => {
                throw new Error('inner');
              }),
            ],
          },
        },
      });
      const machine = machineOf({
        context: { n: 0 },
        on: {
          go: {
            actions: [
              emit({ type: 'before' } as never),
              assign({
                n: () => {
                  expect(() => step(inner.machine, inner.snapshot, { type: 'go' })).to.throw('inner');
                  return 1;
                },
              }),
            ],
          },
        },
      });
      expect(step(machine, begin(machine, {}).snapshot, { type: 'go' }).actions).to.deep.equal([
        { type: 'emit', event: { type: 'before' } },
      ]);
    });
  });

  describe('a circle of transitions', () => {
    // XState goes round for ever by default, and the process with it.
    const rounds = (config: Record<string, unknown>) =>
      machineOf({ context: { n: 0 }, initial: 'still', ...config });
    const count = assign({ n: ({ context }: { context: { n: number } }) => context.n + 1 });

    it('ends with an error: always, raise, and at the creation', () => {
      const always = rounds({
        states: {
          still: { on: { go: 'a' } },
          a: { always: { target: 'b' } },
          b: { always: { target: 'a' } },
        },
      });
      const raising = rounds({
        states: { still: { on: { go: { actions: raise({ type: 'go' }) } } } },
      });
      const guarded = rounds({
        states: { still: { on: { go: 'a' } }, a: { always: { guard: () => true, actions: count } } },
      });
      for (const machine of [always, raising, guarded])
        expect(() => step(machine, begin(machine, {}).snapshot, { type: 'go' })).to.throw('Infinite loop');
      const fresh = rounds({ states: { still: { always: 'a' }, a: { always: 'still' } } });
      expect(() => begin(fresh, {})).to.throw('Infinite loop');
    });

    it('that ends by itself may have thousands of steps', () => {
      const machine = rounds({
        states: {
          still: { on: { go: 'a' } },
          a: {
            always: [{ guard: ({ context }: never) => (context as { n: number }).n < 9_000, actions: count }],
          },
        },
      });
      expect(step(machine, begin(machine, {}).snapshot, { type: 'go' }).snapshot.context).to.deep.equal({
        n: 9_000,
      });
    });

    it('may have the bound that its machine sets itself', () => {
      const machine = rounds({
        options: { maxIterations: 10 },
        states: { still: { on: { go: 'a' } }, a: { always: { actions: count } } },
      });
      expect(() => step(machine, begin(machine, {}).snapshot, { type: 'go' })).to.throw('more than 10');
    });
  });

  describe('restore', () => {
    it('throws on a state that the machine does not have', () => {
      const { machine } = started({ initial: 'a', states: { a: {} } });
      expect(() => restore(machine, { value: 'gone', context: {} }, {})).to.throw();
      expect(() => restore(machine, { value: { a: 'deeper' }, context: {} }, {})).to.throw();
    });

    it('does not run entry actions again', () => {
      let entered = 0;
      const machine = createMachine({
        context: { n: 0 },
        entry: assign({
          n: ({ context }) => {
            entered += 1;
            return context.n + 1;
          },
        }),
      }) as AnyStateMachine;
      const { snapshot } = begin(machine, undefined);
      expect(slept(machine, snapshot).context).to.deep.equal({ n: 1 });
      expect(entered).to.equal(1);
    });
  });
}
