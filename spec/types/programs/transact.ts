// Two actors in one commit.
import { assign, setup } from 'xstate';
import { createSupervisor, defineKind, isRefusal, memoryStore, refuse } from 'troupe';

const machine = setup({
  types: {
    context: {} as { cents: number },
    events: {} as { type: 'deposit'; cents: number } | { type: 'withdraw'; cents: number },
  },
}).createMachine({
  context: { cents: 10 },
  on: {
    deposit: { actions: assign({ cents: ({ context, event }) => context.cents + event.cents }) },
    withdraw: { actions: assign({ cents: ({ context, event }) => context.cents - event.cents }) },
  },
});
const account = defineKind({
  kind: 'account',
  version: 1,
  machine,
  policy: ({ context }, event) =>
    event.type === 'withdraw' && event.cents > context.cents
      ? refuse('INSUFFICIENT', {}, 'Not enough.') // a code of one's own, without a table
      : undefined,
  view: ({ context }) => ({ cents: context.cents }),
});
const supervisor = await createSupervisor({ kinds: [account], store: memoryStore() });
for (const id of ['a', 'b']) await supervisor.spawn('account', { id });
const [a, b] = [supervisor.handle('account', 'a'), supervisor.handle('account', 'b')]; // a handle is a key, too
const done = await supervisor.transact({
  name: 'transfer',
  actors: [a, b],
  run(tx) {
    const balance: number = tx.read(a)?.view.cents ?? 0;
    tx.send(a, { type: 'withdraw', cents: 5 });
    tx.send({ kind: 'account', id: 'b' }, { type: 'deposit', cents: 5 });
    return { balance };
  },
});
if (!isRefusal(done)) {
  const balance: number = done.result.balance;
  console.log(balance);
}

const wrong = {
  name: 'wrong',
  actors: [],
};
void supervisor.transact({
  ...wrong,
  run(tx) {
    // @ts-expect-error misspelt
    tx.send({ kind: 'account', id: 'b' }, { type: 'depsit', cents: 5 });
    // @ts-expect-error no such kind
    tx.send({ kind: 'acount', id: 'b' }, { type: 'deposit', cents: 5 });
    // @ts-expect-error no such kind
    tx.create('acount', 'b');
    // @ts-expect-error the view has no such member
    return { balance: tx.read(b)?.view.cent ?? 0 };
  },
});
// @ts-expect-error no such kind
void supervisor.transact({ name: 'wrong', actors: [{ kind: 'acount', id: 'a' }], run: () => null });
await supervisor.stop();
