import { type } from 'arktype';
import { expect } from 'chai';
import * as v from 'valibot';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { defineKind } from '../../../actors/define-kind.js';
import { memoryStore } from '../../../lib/store/memory.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { refuse } from '../../../machines/refusals.js';

/**
 * Kinds take schemas of any library that speaks Standard Schema. Each hands its issues over in a way of its own: a
 * schema that is a function, a path of keys or of objects that hold one, issues as a class.
 */
describe('a kind with schemas of', () => {
  const machine = setup({
    types: {
      context: {} as { cents: number; note: string },
      events: {} as { type: 'pay'; lines: readonly { cents: number }[]; note?: string },
      input: {} as { cents: number },
    },
  }).createMachine({
    context: ({ input }) => ({ cents: input.cents, note: '' }),
    on: {
      pay: {
        actions: assign(({ event: { lines, note = '' } }) => ({ cents: lines[0]?.cents ?? 0, note })),
      },
    },
  });

  const libraries = {
    zod: {
      input: z.object({ cents: z.number() }),
      pay: z.object({ lines: z.array(z.object({ cents: z.number() })), note: z.string().default('none') }),
    },
    valibot: {
      input: v.object({ cents: v.number() }),
      pay: v.object({
        lines: v.array(v.object({ cents: v.number() })),
        note: v.optional(v.string(), 'none'),
      }),
    },
    arktype: {
      input: type({ cents: 'number' }),
      pay: type({ lines: type({ cents: 'number' }).array(), note: "string = 'none'" }),
    },
  };

  for (const [library, { input, pay }] of Object.entries(libraries))
    describe(library, () => {
      const asked: string[] = [];
      const account = defineKind({
        kind: 'purse',
        version: 1,
        machine,
        schemas: { input, events: { pay } },
        policy: (_snapshot, event) => {
          asked.push(event.type);
          return event.note === 'never' ? refuse('FORBIDDEN') : undefined;
        },
        view: ({ context }) => context,
      });
      let supervisor: Supervisor<readonly [typeof account]>;
      before(async () => {
        supervisor = await createSupervisor({ kinds: [account], store: memoryStore() });
        await supervisor.spawn('purse', { id: 'p', input: { cents: 1 } });
      });
      beforeEach(() => asked.splice(0));
      after(() => supervisor.stop());

      it('refuses an event with the path to what is wrong, before the policy is asked', async () => {
        const lines = [{ cents: 1 }, { cents: 'two' as never }];
        const answer = await supervisor.ask('purse', 'p', { type: 'pay', lines });
        expect(answer).to.deep.include({ code: 'BAD_REQUEST', status: 400 });
        expect(answer).to.have.nested.property('details.path', 'lines.1.cents');
        expect((answer as { message: string }).message).to.match(/^lines\.1\.cents: .*number/i);
        expect(asked).to.deep.equal([]);
        expect((await supervisor.get('purse', 'p'))?.revision).to.equal(1);
      });

      it('refuses an input with the path, and creates nothing', async () => {
        const answer = await supervisor.spawn('purse', { id: 'q', input: { cents: '1' as never } });
        expect(answer).to.have.nested.property('details.path', 'cents');
        expect(await supervisor.get('purse', 'q')).to.equal(undefined);
      });

      it('hands policy and machine what the schema makes of the event', async () => {
        const answer = await supervisor.ask('purse', 'p', { type: 'pay', lines: [{ cents: 7 }] });
        expect(answer).to.have.deep.property('view', { cents: 7, note: 'none' });
        expect(await supervisor.ask('purse', 'p', { type: 'pay', lines: [], note: 'never' })).to.include({
          code: 'FORBIDDEN',
        });
        expect(asked).to.deep.equal(['pay', 'pay']);
      });
    });
});
