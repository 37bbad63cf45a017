import { expect } from 'chai';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { defineKind } from '../../../actors/define-kind.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { isRefusal, refuse } from '../../../machines/refusals.js';

/** A caller without a compiler wrote `{"total":"0two"}` durably: a kind may say what its events look like. */
const machine = setup({
  types: {
    context: {} as { total: number; unit: string },
    events: {} as { type: 'add'; n: number; note?: string } | { type: 'reset' } | { type: 'late' },
    input: {} as { start: number; unit?: string },
  },
}).createMachine({
  context: ({ input }) => ({ total: input.start, unit: input.unit ?? 'none' }),
  on: {
    add: { actions: assign({ total: ({ context, event }) => context.total + event.n }) },
    reset: { actions: assign({ total: 0 }) },
    late: {},
  },
});
const kindOf = (asked: string[] = [], looked: object[] = []) =>
  defineKind({
    kind: 'counter',
    version: 1,
    machine,
    schemas: {
      input: z.object({ start: z.number(), unit: z.string().default('apples') }),
      events: {
        add: z.object({ n: z.number().max(100), note: z.string().optional() }),
        late: z.object({}).refine(async () => true),
      },
    },
    refusals: { TOO_MUCH: { status: 402, message: 'That is too much.' } },
    facts: (_snapshot, event) => {
      looked.push(event);
      return null;
    },
    policy: ({ context }, event) => {
      asked.push(event.type);
      if (event.type === 'reset') return refuse('UNHEARD_OF' as never);
      return event.type === 'add' && context.total + event.n > 10 ? refuse('TOO_MUCH') : undefined;
    },
    view: ({ context }) => context,
  });

describe('schemas of a kind', () => {
  const open = async (asked?: string[], looked?: object[]) => {
    const supervisor = await createSupervisor({ kinds: [kindOf(asked, looked)], store: memoryStore() });
    await supervisor.spawn('counter', { id: 'c', input: { start: 1 } });
    return supervisor;
  };

  it('refuse an event with its path before the policy is asked, and write nothing', async () => {
    const asked: string[] = [];
    const supervisor = await open(asked);
    const answer = await supervisor.ask('counter', 'c', { type: 'add', n: 'two' as never });
    expect(answer).to.deep.include({ code: 'BAD_REQUEST', status: 400 });
    expect(answer).to.have.nested.property('details.path', 'n');
    expect((answer as { message: string }).message).to.match(/^n: .*number/i);
    expect(asked).to.deep.equal([]);
    expect((await supervisor.get('counter', 'c'))?.revision).to.equal(1);
    await supervisor.stop();
  });

  it('hold in a transaction as they do for one event', async () => {
    const supervisor = await open();
    const key = supervisor.handle('counter', 'c');
    const answer = await supervisor.transact({
      name: 'wrong',
      actors: [key],
      run: (tx) => {
        tx.send(key, { type: 'add', n: 1_000 });
        return null;
      },
    });
    expect(isRefusal(answer) && answer.details['path']).to.equal('n');
    await supervisor.stop();
  });

  it('refuse an input with its path, and fill in what it may leave out', async () => {
    const supervisor = await open();
    expect((await supervisor.get('counter', 'c'))?.view).to.deep.equal({ total: 1, unit: 'apples' });
    const answer = await supervisor.spawn('counter', { id: 'd', input: { start: '1' as never } });
    expect(isRefusal(answer) && answer.details['path']).to.equal('start');
    expect(await supervisor.get('counter', 'd')).to.equal(undefined);
    await supervisor.stop();
  });

  // `facts` saw what the caller gave, and threw on members that the schema would have refused.
  it('are asked before the facts of an event are looked up', async () => {
    const looked: object[] = [];
    const supervisor = await open(undefined, looked);
    await supervisor.ask('counter', 'c', { type: 'add', n: 'two' as never });
    await supervisor.spawn('counter', { id: 'd', input: {} as never });
    await supervisor.ask('counter', 'c', { type: 'add', n: 2, extra: 'x' } as never);
    expect(looked).to.deep.equal([
      { type: 'kernel.created', input: { start: 1, unit: 'apples' } },
      { type: 'add', n: 2 },
    ]);
    await supervisor.stop();
  });

  it('drop what they do not know, and keep the log as the machine saw it', async () => {
    const supervisor = await open();
    await supervisor.ask('counter', 'c', { type: 'add', n: 2, extra: 'x' } as never);
    const [entry] = await supervisor.history({ kind: 'counter', id: 'c' });
    expect(entry?.event).to.include({ type: 'add', n: 2 }).and.not.have.property('extra');
    await supervisor.stop();
  });

  it('that answer later are a fault of the kind, and say so', async () => {
    const supervisor = await open();
    const error = await supervisor.ask('counter', 'c', { type: 'late' }).catch((thrown: unknown) => thrown);
    expect(String((error as Error).cause ?? error)).to.include('is asynchronous');
    await supervisor.stop();
  });
});

describe('refusals of a kind', () => {
  it('take status and sentence from the kind, and never throw for a code that no one knows', async () => {
    const supervisor = await createSupervisor({ kinds: [kindOf()], store: memoryStore() });
    await supervisor.spawn('counter', { id: 'c', input: { start: 1 } });
    expect(await supervisor.ask('counter', 'c', { type: 'add', n: 50 })).to.deep.include({
      code: 'TOO_MUCH',
      status: 402,
      message: 'That is too much.',
    });
    expect(await supervisor.ask('counter', 'c', { type: 'reset' })).to.deep.include({
      code: 'UNHEARD_OF',
      status: 409,
      message: 'Refused: UNHEARD_OF.',
    });
    await supervisor.stop();
  });
});
