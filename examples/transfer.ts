/**
 * Money from one account to another: two actors, one commit. It happens to both or to neither, whatever dies in
 * between.
 *
 *     node transfer.js
 */
import { assign, setup } from 'xstate';
import { createSupervisor, defineKind, isRefusal, memoryStore, refuse } from 'troupe';

const machine = setup({
  types: {
    context: {} as { cents: number },
    input: {} as { cents: number },
    events: {} as { type: 'withdraw' | 'deposit'; cents: number },
  },
}).createMachine({
  context: ({ input }) => ({ cents: input.cents }),
  on: {
    withdraw: { actions: assign({ cents: ({ context, event }) => context.cents - event.cents }) },
    deposit: { actions: assign({ cents: ({ context, event }) => context.cents + event.cents }) },
  },
});
const account = defineKind({
  kind: 'account',
  version: 1,
  machine,
  policy: (snapshot, event) =>
    event.type === 'withdraw' && snapshot.context.cents < event.cents
      ? refuse('CONFLICT', {}, `There are only ${snapshot.context.cents} cents.`)
      : undefined,
  view: (snapshot) => snapshot.context.cents,
});

const supervisor = await createSupervisor({ kinds: [account], store: memoryStore() });
await supervisor.spawn('account', { id: 'ann', input: { cents: 1_000 } });
await supervisor.spawn('account', { id: 'bob', input: { cents: 0 } });

/** Again with the same `key`, it answers what it answered before, and moves nothing. */
async function transfer(from: string, to: string, cents: number, key: string): Promise<void> {
  const [payer, payee] = [
    { kind: 'account', id: from },
    { kind: 'account', id: to },
  ] as const;
  const answer = await supervisor.transact({
    name: 'transfer',
    actors: [payer, payee],
    idempotency: { scope: 'bank', key, hash: `${from}>${to}:${cents}` },
    run: (tx) => {
      tx.send(payer, { type: 'withdraw', cents });
      tx.send(payee, { type: 'deposit', cents });
      return tx.next('transfers');
    },
  });
  console.log(isRefusal(answer) ? `refused: ${answer.message}` : `transfer ${answer.result}`);
}

await transfer('ann', 'bob', 700, 'monday');
await transfer('ann', 'bob', 700, 'monday'); // the answer was lost, so it is asked for again
await transfer('ann', 'bob', 700, 'tuesday');
for (const id of ['ann', 'bob']) console.log(id, (await supervisor.get('account', id))?.view);
await supervisor.stop();
