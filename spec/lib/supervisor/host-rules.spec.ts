import { expect } from 'chai';
import { assign, setup } from 'xstate';
import type { Kind } from '../../../actors/contracts.js';
import { defineKind } from '../../../actors/define-kind.js';
import { memoryStore } from '../../../lib/store/memory.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { operator } from '../../../machines/caller.js';

/**
 * What hosts in JavaScript met: a rule that threw an object without a text (`Object.create(null)`) ended the process
 * and left its actor's turn taken for ever, an async rule that rejected ended the process as well, a view that was
 * async was answered as `{}`, and a page of views failed with "boom", which said neither of whom nor where. A `resume`
 * at which the lists threw kept the actor's turn: it took nothing more, and the stop waited ten seconds for it.
 */
describe('a rule of a kind', () => {
  const machine = setup({
    types: { context: {} as { n: number }, events: {} as { type: 'add' } | { type: 'held' } },
  }).createMachine({
    context: { n: 0 },
    initial: 'open',
    states: {
      open: { on: { add: { actions: assign({ n: ({ context }) => context.n + 1 }) } } },
      shut: { on: { held: 'open' } },
    },
  });
  const rules = {
    policy: undefined,
    notInState: undefined,
    facts: {},
    index: [],
    totals: [],
    waitingFor: [],
    view: null,
  } as const;
  const names = Object.keys(rules) as (keyof typeof rules)[];
  /** What the rules answer for the actor `sick`; all others are well. */
  let answers: Partial<Record<keyof typeof rules, () => unknown>>;
  let supervisor: Supervisor;
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);

  beforeEach(async () => {
    answers = {};
    const sick = (rule: keyof typeof rules, id: unknown): unknown =>
      id === 'sick' ? (answers[rule]?.() ?? rules[rule]) : rules[rule];
    const kind = defineKind({
      kind: 'ward',
      version: 1,
      machine: setup({ types: { context: {} as { n: number; id: string } } }).createMachine({
        ...(machine.config as object),
        context: ({ input }) => ({ n: 0, id: (input as { id: string }).id }),
      }),
      policy: ({ context }: { context: { id: string } }) => sick('policy', context.id),
      notInState: ({ context }: { context: { id: string } }) => sick('notInState', context.id),
      facts: (snapshot?: { context: { id: string } }) => sick('facts', snapshot?.context.id),
      index: (_snapshot: unknown, { id }: { id: string }) => sick('index', id),
      totals: (_snapshot: unknown, { id }: { id: string }) => sick('totals', id),
      waitingFor: (_snapshot: unknown, { id }: { id: string }) => sick('waitingFor', id),
      view: (_snapshot: unknown, { id }: { id: string }) => sick('view', id),
    } as never) as unknown as Kind;
    supervisor = await createSupervisor({ kinds: [kind], store: memoryStore() });
    for (const id of ['sick', 'well']) await supervisor.spawn('ward', { id });
    unhandled.length = 0;
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    process.off('unhandledRejection', note);
    await supervisor.stop();
  });
  const message = (attempt: Promise<unknown>): Promise<string> =>
    attempt.then(
      (answer) => `answered ${JSON.stringify(answer)}`,
      (error: Error) => error.message,
    );
  /** `held` is an event that no state takes now. */
  const eventOf = (rule: string) => ({ type: rule === 'notInState' ? 'held' : 'add' });
  const turnsOfOthers = async (): Promise<void> => {
    for (const id of ['sick', 'well'])
      expect(await message(supervisor.ask('ward', id, { type: 'add' }))).to.match(/^answered .*"revision"/);
  };

  for (const rule of names)
    it(`${rule}: may throw what has no text, and its actor goes on`, async () => {
      answers = {
        [rule]: () => {
          throw Object.create(null);
        },
      };
      expect(await message(supervisor.ask('ward', 'sick', eventOf(rule)))).to.match(
        new RegExp(`${rule} of .*ward.* threw: something without a text`),
      );
      answers = {};
      await turnsOfOthers();
    });

  for (const rule of names)
    it(`${rule}: is refused as a promise, also as one that rejects`, async () => {
      answers = { [rule]: () => Promise.reject(new Error('later')) };
      expect(await message(supervisor.ask('ward', 'sick', eventOf(rule)))).to.match(
        new RegExp(
          `${rule} of the kind "ward" must answer at once, not with a promise|${rule} of .* must answer`,
        ),
      );
      answers = {};
      await turnsOfOthers(); // by then Node would have told of the rejection
      expect(unhandled).to.deep.equal([]);
    });

  it('that answers what is no list is told so', async () => {
    for (const rule of ['index', 'totals', 'waitingFor'] as const) {
      answers = { [rule]: () => 'text' };
      expect(await message(supervisor.ask('ward', 'sick', { type: 'add' }))).to.include(
        `${rule} of the kind "ward" must answer a list`,
      );
    }
    answers = { index: () => [{ index: 'all', key: 7 }] };
    expect(await message(supervisor.ask('ward', 'sick', { type: 'add' }))).to.include(
      'index of the kind "ward" must answer rows of { index, key }, both texts',
    );
    answers = {};
    await turnsOfOthers();
  });

  it('that throws at a resumption gives the turn back', async () => {
    answers = {
      index: () => {
        throw new Error('no list');
      },
    };
    expect(await message(supervisor.resume({ kind: 'ward', id: 'sick' }, operator))).to.match(
      /index of ward sick threw: no list/,
    );
    answers = {};
    await turnsOfOthers();
  });

  it('is named with its actor where a page fails on it', async () => {
    answers = {
      view: () => {
        throw new Error('no view');
      },
    };
    const named = /^view of ward sick threw: no view$/;
    expect(await message(supervisor.get('ward', 'sick'))).to.match(named);
    expect(await message(supervisor.iterate('ward', { limit: 10 }))).to.match(named);
    expect(await message(supervisor.why({ kind: 'ward', id: 'sick' }, operator))).to.match(named);
    expect(await message(supervisor.ask('ward', 'sick', { type: 'add' }))).to.equal(
      'ward sick has taken "add", but cannot be shown: view of ward sick threw: no view',
    );
  });
});
