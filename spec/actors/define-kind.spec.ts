import { expect } from 'chai';
import { assign, emit, fromPromise, raise, sendTo, setup, type AnyStateMachine } from 'xstate';
import type { Kind } from '../../actors/contracts.js';
import { defineKind } from '../../actors/define-kind.js';
import { publish, effect } from '../../machines/outputs.js';

const deed = { guarantee: 'at-least-once', run: async () => null } as const;
const machineOf = (
  config: Record<string, unknown>,
  implementations: Record<string, unknown> = {},
): AnyStateMachine =>
  setup({ actors: { deed: effect() }, ...implementations } as never).createMachine(
    config as never,
  ) as unknown as AnyStateMachine; // wrong on purpose, mostly
const kindOf =
  (
    config: Record<string, unknown>,
    extra: Partial<Kind> = {},
    implementations: Record<string, unknown> = {},
  ) =>
  (): Kind =>
    defineKind({
      kind: 'thing',
      version: 1,
      machine: machineOf(config, implementations),
      view: () => null,
      ...extra,
    });

describe('defineKind', () => {
  it('takes what the kernel can run', () => {
    const kind = kindOf(
      {
        context: { n: 0 },
        initial: 'a',
        states: {
          a: {
            entry: 'count',
            after: { short: 'b', 500: 'b' },
            on: {
              x: {
                actions: [
                  emit(publish('x', null)),
                  raise({ type: 'y' }, { delay: 'short' as never }),
                  'count',
                ],
              },
            },
          },
          b: { invoke: { src: 'deed', onDone: 'a', onError: 'a' } },
        },
      },
      { effects: { deed } },
      { actions: { count: assign({ n: 1 }) }, delays: { short: 20 } },
    );
    expect(kind()).to.include({ kind: 'thing' });
  });

  it('names every fault at once', () => {
    expect(kindOf({ entry: () => undefined }, { kind: 'Bad Name', version: 0 })).to.throw(
      /must match[^]*whole number[^]*custom action/,
    );
  });

  const faults: readonly (readonly [what: string, says: RegExp, make: () => Kind])[] = [
    ['a name that no key could carry', /must match/, kindOf({}, { kind: 'Work_Item' })],
    ['a version below 1', /whole number from 1/, kindOf({}, { version: 0 })],
    ['a broken version', /whole number from 1/, kindOf({}, { version: 1.5 })],
    [
      'a gap in the migrations',
      /migration from version 2 is missing/,
      kindOf({}, { version: 4, migrate: { 1: (old) => old, 3: (old) => old } }),
    ],
    [
      'a hand without run',
      /effect "deed" lacks run/,
      kindOf({}, { effects: { deed: { guarantee: 'at-least-once' } as never } }),
    ],
    [
      'a guarantee that there is not',
      /effect "deed" needs the guarantee at-least-once or at-most-once/,
      kindOf({}, { effects: { deed: { guarantee: 'exactly-once', run: async () => null } as never } }),
    ],
    ['a missing view', /lacks view/, kindOf({}, { view: undefined as never })],
    ['what is no machine', /machine must be one of setup/, kindOf({}, { machine: { on: {} } as never })],
    [
      'a fenced hand without recover',
      /at-most-once effect "deed" lacks recover/,
      kindOf({}, { effects: { deed: { guarantee: 'at-most-once', run: async () => null } as never } }),
    ],
    [
      'a source that is hand and child kind',
      /both an effect and a child kind/,
      kindOf({}, { effects: { deed }, childKinds: { deed: 'other' } }),
    ],
    ['inline logic', /root invokes inline logic/, kindOf({ invoke: { src: fromPromise(async () => 1) } })],
    [
      'an effect without a hand',
      /state "a.b" invokes "deed" .*neither an effect nor a child kind/,
      kindOf({ initial: 'a', states: { a: { initial: 'b', states: { b: { invoke: { src: 'deed' } } } } } }),
    ],
    [
      'an effect that setup does not know',
      /invokes "unknown".*setup\(\{actors\}\)/,
      kindOf({ invoke: { src: 'unknown' } }, { effects: { unknown: deed } }),
    ],
    [
      'a custom action on entry',
      /state "a" runs the custom action/,
      kindOf({ initial: 'a', states: { a: { entry: () => undefined } } }),
    ],
    [
      'a custom action on exit',
      /runs the custom action/,
      kindOf({ initial: 'a', states: { a: { exit: () => undefined } } }),
    ],
    [
      'a custom action in a transition',
      /runs the custom action "shout"/,
      kindOf({ on: { x: { actions: 'shout' } } }, {}, { actions: { shout: () => undefined } }),
    ],
    [
      'a custom action of an eventless transition',
      /runs the custom action/,
      kindOf({ initial: 'a', states: { a: { always: { target: 'b', actions: () => undefined } }, b: {} } }),
    ],
    [
      'a custom action of onDone',
      /runs the custom action/,
      kindOf({ invoke: { src: 'deed', onDone: { actions: () => undefined } } }, { effects: { deed } }),
    ],
    [
      'a custom action of an initial transition',
      /runs the custom action/,
      kindOf({ initial: { target: 'a', actions: () => undefined }, states: { a: {} } }),
    ],
    [
      'an action that setup does not define',
      /names the action "nowhere"/,
      kindOf({ entry: { type: 'nowhere' } }),
    ],
    [
      'a guard that setup does not define',
      /names the guard "nobody"/,
      kindOf({ on: { x: { guard: 'nobody' } } }),
    ],
    [
      'a misspelt delay of after',
      /waits for the delay "shrot"/,
      kindOf({ initial: 'a', states: { a: { after: { shrot: 'b' } }, b: {} } }, {}, { delays: { short: 5 } }),
    ],
    [
      'a misspelt delay of raise',
      /waits for the delay "shrot"/,
      kindOf(
        { on: { x: { actions: raise({ type: 'y' }, { delay: 'shrot' as never }) } } },
        {},
        { delays: { short: 5 } },
      ),
    ],
    [
      'a misspelt delay of sendTo',
      /waits for the delay "shrot"/,
      kindOf(
        { invoke: { id: 'w', src: 'deed' }, on: { x: { actions: 'poke' } } },
        { effects: { deed } },
        { actions: { poke: sendTo('w', { type: 'y' }, { delay: 'shrot' as never }) } },
      ),
    ],
  ];
  for (const [what, says, make] of faults)
    it(`names ${what}`, () => {
      expect(make).to.throw(TypeError, says);
    });
});
