import { expect } from 'chai';
import { setup } from 'xstate';
import { defineKind } from '../../../actors/define-kind.js';
import { memoryStore } from '../../../lib/store/memory.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { isRefusal } from '../../../machines/refusals.js';

/**
 * Mistakes that the compiler refuses, made by hosts in JavaScript: `true` of a policy and the promise of an async one
 * were answered to the caller in the place of a view, and an async transaction committed nothing and answered `{}`.
 */
describe('a host without a compiler', () => {
  const machine = setup({}).createMachine({ on: { go: {} } });
  const kindOf = (kind: string, extra: object = {}) =>
    defineKind({ kind, version: 1, machine, view: () => null, ...extra });
  let supervisor: Supervisor;
  before(async () => {
    supervisor = (await createSupervisor({
      kinds: [
        kindOf('plain'),
        kindOf('yes', { policy: () => true }),
        kindOf('later', { policy: async () => undefined }),
        kindOf('never', { validateInput: () => false }),
      ],
      store: memoryStore(),
    })) as never;
    for (const kind of ['plain', 'yes', 'later']) await supervisor.spawn(kind, { id: 'a' });
  });
  after(() => supervisor.stop());
  const message = (attempt: Promise<unknown>): Promise<string> =>
    attempt.then(
      (answer) => `answered ${JSON.stringify(answer)}`,
      (error: Error) => error.message,
    );

  it('hears that a rule answered what is no refusal', async () => {
    expect(await message(supervisor.ask('yes', 'a', { type: 'go' }))).to.match(
      /policy of the kind "yes" must answer a refusal or undefined, and at once/,
    );
    expect(await message(supervisor.ask('later', 'a', { type: 'go' }))).to.match(
      /policy of the kind "later"/,
    );
    expect(await message(supervisor.spawn('never', { id: 'a' }))).to.match(
      /validateInput of the kind "never"/,
    );
    expect((await supervisor.deadLetters()).map(({ actor }) => actor.kind)).to.have.members(['yes', 'later']);
  });

  it('is refused what is not an event', async () => {
    for (const event of [null, undefined, 'go', 7, {}]) {
      const answer = await supervisor.ask('plain', 'a', event as never);
      expect(isRefusal(answer) && answer.code, String(event)).to.equal('BAD_REQUEST');
    }
  });

  it('hears that a transaction cannot wait, and nothing of it is committed', async () => {
    const transaction = supervisor.transact({
      name: 'wait',
      actors: [{ kind: 'plain', id: 'a' }],
      run: (async (tx: { send(key: object, event: object): void }) => {
        tx.send({ kind: 'plain', id: 'a' }, { type: 'go' });
        await Promise.resolve();
        throw new Error('afterwards'); // must not end the process
      }) as never,
    });
    expect(await message(transaction)).to.match(/run must answer at once, not with a promise/);
    expect((await supervisor.get('plain', 'a'))?.revision).to.equal(1);
  });

  // `actors` was looked at only when the transaction touched it, and what a handle sends is answered to no one
  it('hears of an unknown kind where it is named, and which one was meant', async () => {
    const run = () => null;
    const misspelt = supervisor.transact({ name: 'typo', actors: [{ kind: 'palin', id: 'a' }], run });
    expect(await message(misspelt)).to.equal('unknown kind "palin"; did you mean "plain"?');
    const nothing = supervisor.transact({ name: 'typo', actors: ['plain'] as never, run });
    expect(await message(nothing)).to.equal('unknown kind "undefined"; known: plain, yes, later, never');
    expect(() => supervisor.handle('palin', 'a')).to.throw('unknown kind "palin"; did you mean "plain"?');
    expect(() => supervisor.handle('machine', 'a')).to.throw('known: plain, yes, later, never');
  });

  // `undefined` was taken for the id "undefined"
  it('is refused what is no id', async () => {
    for (const id of [undefined, null, 7, { kind: 'plain' }]) {
      const actors = [{ kind: 'plain', id }] as never;
      const answer = await supervisor.transact({ name: 'ids', actors, run: () => null });
      expect(isRefusal(answer) && answer.message, String(id)).to.match(/^Invalid id "/);
    }
    expect(await supervisor.spawn('plain', { id: 7 as never })).to.include({ code: 'BAD_REQUEST' });
  });

  // `by: 'ann'` was stored as who asked, and every request with a text as its key was the same request
  it('hears which option of a request is none', async () => {
    const go = { type: 'go' };
    const run = () => null;
    const actors: never[] = [];
    for (const [sentence, attempt] of [
      [/^by must be a caller like/, supervisor.ask('plain', 'a', go, { by: 'ann' as never })],
      [/^by must be a caller like/, supervisor.spawn('plain', { by: 'ann' as never })],
      [/^idempotency must be \{ key/, supervisor.ask('plain', 'a', go, { idempotency: 'k' as never })],
      [/^until must be a function/, supervisor.ask('plain', 'a', go, { until: {} as never })],
      [/^actors must be a list/, supervisor.transact({ name: 'x', actors: {} as never, run })],
      [/^run must be a function/, supervisor.transact({ name: 'x', actors, run: 'x' as never })],
      [/^name must say/, supervisor.transact({ name: undefined as never, actors, run })],
    ] as const)
      expect(await message(attempt)).to.match(sentence);
    expect((await supervisor.get('plain', 'a'))?.revision).to.equal(1);
  });

  // A misspelt policy lets everyone do everything
  it('hears of a member that no kind has, and which one was meant', () => {
    expect(() => kindOf('plain', { polcy: () => undefined, colour: 'red' })).to.throw(
      /it has no member "polcy"; did you mean "policy"\?\n- it has no member "colour"$/,
    );
  });

  it('hears of a store that is still being opened, and of kinds that are no list', async () => {
    const opening = Promise.resolve(memoryStore());
    expect(await message(createSupervisor({ kinds: [], store: opening as never }))).to.match(
      /store must be an open store: memoryStore\(\), or await levelStore/,
    );
    for (const kinds of [undefined, kindOf('plain')])
      expect(await message(createSupervisor({ kinds: kinds as never, store: memoryStore() }))).to.match(
        /kinds must be a list/,
      );
    expect(await message(createSupervisor({ kinds: [machine as never], store: memoryStore() }))).to.match(
      /its machine must be one of setup/,
    );
  });

  // Of an empty list no one was asked, so that all was allowed; what was none was taken for a fault of the actor, which
  // was halted after the fifth request of that sort
  it('hears that it named no one on whose behalf it asks, and its actor has not failed', async () => {
    for (const onBehalfOf of [[], 'ann', {}, ['ann'], [null]]) {
      const said = /^onBehalfOf must be a (list of callers|caller) like/;
      expect(await message(supervisor.ask('plain', 'a', { type: 'go' }, { onBehalfOf } as never))).to.match(
        said,
      );
      expect(await message(supervisor.spawn('plain', { onBehalfOf } as never))).to.match(said);
    }
    expect((await supervisor.deadLetters()).filter(({ actor }) => actor.kind === 'plain')).to.deep.equal([]);
  });

  // A handle is an actor's address, compiles as one, and was written into record and log with its whole supervisor, store
  // and all; of a parent that was no JSON the log entry could not be read again, and no watcher came past it
  it('has the address alone of a parent written down, and hears of one that is none', async () => {
    const parent = supervisor.handle('plain', 'a');
    const made = await supervisor.spawn('plain', { id: 'child', parent });
    expect(!isRefusal(made) && made.meta.parent).to.deep.equal({ kind: 'plain', id: 'a' });
    const [entry] = await supervisor.history({ kind: 'plain', id: 'child' });
    expect(JSON.stringify(entry).length).to.be.below(1_000);
    for (const none of ['a', 7, {}, () => 1, Symbol('a'), { kind: 'plain' }])
      expect(await message(supervisor.spawn('plain', { parent: none } as never))).to.match(
        /parent must be an actor: \{ kind, id \}/,
      );
  });

  it('hears of what is no address and no caller, and wedges no one', async () => {
    const handle = supervisor.handle('plain', 'a');
    expect(await message(supervisor.get('plain', handle as never))).to.match(/must be a text, not object/);
    expect(
      await message(supervisor.transact({ name: 't', actors: [null], run: () => null } as never)),
    ).to.match(/actors must be a list of \{ kind, id \}/);
    const nobody = undefined as never;
    expect(await message(supervisor.resume(handle, nobody))).to.match(/^by must be a caller/);
    expect(await message(supervisor.retry('x', nobody))).to.match(/^by must be a caller/);
    expect(await message(supervisor.ask('plain', 'a', { type: 'go' }))).to.match(/"revision"/);
  });

  // "One for the orders, one for the payments": the second began the effects of the first once more, called `recover` of
  // those that ran, and took the store from the first at its next write
  it('hears that a store has a supervisor already, and may give it to the next one after a stop', async () => {
    const store = memoryStore();
    const first = await createSupervisor({ kinds: [kindOf('plain')], store });
    expect(await message(createSupervisor({ kinds: [kindOf('other')], store }))).to.match(
      /^another supervisor uses this store: give all kinds to one/,
    );
    expect(isRefusal(await first.spawn('plain', { id: 'a' }))).to.equal(false);
    await first.stop();
    expect(await message(createSupervisor({ kinds: [kindOf('plain')], store }))).to.not.match(/another/);
  });

  // A limit with a slip in its name was none, and one that is undefined or no number let everything through
  it('hears of a limit that is none', async () => {
    const open = (limits: object) =>
      createSupervisor({ kinds: [kindOf('plain')], store: memoryStore(), limits });
    for (const [limits, words] of [
      [{ mailboxmax: 5 }, /^limits has no "mailboxmax"; did you mean "mailboxMax"\?/],
      [{ size: 5 }, /^limits has no "size": it takes awakeActorsMax, mailboxMax/],
      [{ mailboxMax: NaN }, /^limits.mailboxMax must be a number above 0/],
      [{ mailboxMax: '5' }, /^limits.mailboxMax must be a number above 0/],
    ] as const)
      expect(await message(open(limits))).to.match(words);
    const usual = await open({ mailboxMax: undefined });
    const settled = await Promise.all([
      usual.spawn('plain', { id: 'a' }),
      ...Array.from({ length: 1_001 }, () => usual.ask('plain', 'a', { type: 'go' })),
    ]);
    expect(settled.some((one) => isRefusal(one) && one.code === 'BUSY')).to.equal(true);
    await usual.stop();
  });
});
