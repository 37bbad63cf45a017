// One schema says what an event is: to the compiler by what it infers, and to callers without one at run time.
import { type } from 'arktype';
import * as v from 'valibot';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { createSupervisor, defineKind, memoryStore } from 'troupe';

const byZod = z.object({ cents: z.number().max(100), note: z.string().default('none') });
const byValibot = v.object({
  cents: v.pipe(v.number(), v.maxValue(100)),
  note: v.optional(v.string(), 'none'),
});
const byArkType = type({ cents: 'number <= 100', note: "string = 'none'" });
const input = z.object({ owner: z.string() });

const machine = setup({
  types: {
    context: {} as { owner: string; cents: number; note: string },
    input: {} as z.output<typeof input>,
    events: {} as
      | ({ type: 'zod.pay' } & z.output<typeof byZod>)
      | ({ type: 'valibot.pay' } & v.InferOutput<typeof byValibot>)
      | ({ type: 'arktype.pay' } & typeof byArkType.infer),
  },
}).createMachine({
  context: ({ input: { owner } }) => ({ owner, cents: 0, note: '' }),
  on: { '*': { actions: assign(({ event }) => ({ cents: event.cents, note: event.note })) } },
});
const account = defineKind({
  kind: 'purse',
  version: 1,
  machine,
  schemas: { input, events: { 'zod.pay': byZod, 'valibot.pay': byValibot, 'arktype.pay': byArkType } },
  view: ({ context }) => context,
});
const supervisor = await createSupervisor({ kinds: [account], store: memoryStore() });
await supervisor.spawn('purse', { id: 'p', input: { owner: 'ann' } });
await supervisor.ask('purse', 'p', { type: 'zod.pay', cents: 1, note: 'x' });
await supervisor.ask('purse', 'p', { type: 'valibot.pay', cents: 1, note: 'x' });
await supervisor.ask('purse', 'p', { type: 'arktype.pay', cents: 1, note: 'x' });
// @ts-expect-error as zod infers it
void supervisor.ask('purse', 'p', { type: 'zod.pay', cents: 'one', note: 'x' });
// @ts-expect-error as valibot infers it
void supervisor.ask('purse', 'p', { type: 'valibot.pay', cents: 'one', note: 'x' });
// @ts-expect-error as arktype infers it
void supervisor.ask('purse', 'p', { type: 'arktype.pay', cents: 'one', note: 'x' });
// @ts-expect-error a schema of an event that the machine has not
defineKind({ ...account, schemas: { events: { 'zod.pya': byZod } } });
// @ts-expect-error no schema
defineKind({ ...account, schemas: { events: { 'zod.pay': { parse: () => null } } } });
await supervisor.stop();
