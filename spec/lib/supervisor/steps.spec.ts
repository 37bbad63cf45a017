import { expect } from 'chai';
import { assign, setup } from 'xstate';
import type { EffectContext, Kind } from '../../../actors/contracts.js';
import { defineKind } from '../../../actors/define-kind.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { effect } from '../../../machines/outputs.js';
import { openHouse, seen, unclosable, type House } from '../../fixtures/house.js';

/** Parts of an effect whose outcomes are stored one by one: a run after a crash begins where the last one ended. */
describe('the steps of an effect', () => {
  let house: House;
  let body: (context: EffectContext) => Promise<string>;
  let ran: string[];
  const machine = setup({
    types: { context: {} as { outcome: string }, events: {} as { type: 'leave' } },
    actors: { work: effect<string, null>() },
  }).createMachine({
    context: { outcome: '' },
    initial: 'working',
    states: {
      working: {
        on: { leave: 'left' },
        invoke: {
          src: 'work',
          input: null,
          onDone: { target: 'left', actions: assign({ outcome: ({ event }) => event.output }) },
          onError: {
            target: 'left',
            actions: assign({ outcome: ({ event }) => (event.error as { message: string }).message }),
          },
        },
      },
      left: {},
    },
  });
  const kind = defineKind({
    kind: 'worker',
    version: 1,
    machine,
    effects: { work: { guarantee: 'at-least-once', run: (_input: null, context) => body(context) } },
    view: ({ context }) => ({ ...context }),
  }) as unknown as Kind;
  const act =
    (name: string, answer: string | Promise<string> = name) =>
    (): string | Promise<string> => {
      ran.push(name);
      return answer;
    };
  const never = new Promise<string>(() => undefined);
  const rows = async () => (await house.store.page({ gte: 'j/', lt: 'j/\x7f' })).map(([key]) => key);
  const outcome = async () => seen(await house.supervisor.get('worker', 'w'))['outcome'];
  async function work(run: typeof body): Promise<void> {
    body = run;
    ran = [];
    house = await openHouse([kind]);
    await house.supervisor.spawn('worker', { id: 'w' });
    await house.environment.settle();
  }
  async function crash(): Promise<void> {
    await house.crash();
    await house.environment.settle();
  }
  afterEach(async () => {
    expect(house.faults).to.deep.equal([]);
    await house.stop();
  });

  it('are run once, but for the one that a crash cut off, and their rows go with the result', async () => {
    let gate: Promise<string> = never;
    await work(async ({ step }) => {
      const failed = await step('fails', () => Promise.reject<string>(new Error('no funds'))).catch(
        ({ message }: Error) => message,
      );
      const one = await step('one', act('one'));
      return `${failed}, ${one}, ${await step('a name/with: signs', () => act('two', gate)())}`;
    });
    expect([ran, await rows()]).to.deep.equal([
      ['one', 'two'],
      ['j/worker/w/1.0/fails', 'j/worker/w/1.0/one'],
    ]);
    gate = Promise.resolve('two');
    await crash();
    expect(ran).to.deep.equal(['one', 'two', 'two']);
    expect([await outcome(), await rows()]).to.deep.equal(['no funds, one, two', []]);
  });

  it('under one name are one step', async () => {
    await work(async ({ step }) =>
      (await Promise.all([step('one', act('one')), step('one', act('two'))])).join(),
    );
    expect([ran, await outcome()]).to.deep.equal([['one'], 'one,one']);
  });

  it('go where the state is left, also the ones that end late', async () => {
    let end = (_answer: string): void => undefined;
    await work(async ({ step }) => {
      await step('one', act('one'));
      return step('late', act('late', new Promise((resolve) => (end = resolve))));
    });
    await house.supervisor.ask('worker', 'w', { type: 'leave' });
    end('late');
    await house.environment.settle();
    expect([await rows(), await outcome()]).to.deep.equal([[], '']);
  });

  // Their effect's own row goes with the event that leaves the state; the process may die right after it
  it('go at the next start where the process died after it had left their state', async () => {
    await work(async ({ step }) => step('one', act('one')).then(() => step('two', act('two', never))));
    await house.supervisor.ask('worker', 'w', { type: 'leave' });
    expect(await rows()).to.deep.equal(['j/worker/w/1.0/one']);
    await crash();
    expect([await rows(), ran]).to.deep.equal([[], ['one', 'two']]);
  });

  it('go with the result of a run that comes to it without them', async () => {
    let again = false;
    await work(async ({ step }) => {
      if (again) return 'without';
      await step('one', act('one'));
      return step('two', act('two', never));
    });
    again = true;
    await crash();
    expect([await outcome(), await rows()]).to.deep.equal(['without', []]);
  });

  // They were kept in the effect's own row, which was written whole at each step: a hundred steps wrote 5,050
  it('cost one row each, as long as its own outcome', async () => {
    const written: number[] = [];
    const inner = unclosable(memoryStore());
    const counting = new Proxy(inner, {
      get(target, member) {
        if (member !== 'write') return Reflect.get(target, member) as unknown;
        return (group: Parameters<typeof inner.write>[0]) => {
          const steps = group.ops.filter(([key, value]) => key.startsWith('j/') && value !== null);
          written.push(...steps.map(([key, value]) => `${key}${String(value)}`.length));
          return inner.write(group);
        };
      },
    });
    body = async ({ step }) => {
      for (let n = 100; n < 200; n += 1) await step(`step ${n}`, () => 'x'.repeat(40));
      return 'done';
    };
    house = await openHouse([kind], { inner: counting });
    await house.supervisor.spawn('worker', { id: 'w' });
    for (let tries = 0; tries < 500 && (await outcome()) === ''; tries += 1) await house.environment.settle();
    expect(await outcome()).to.equal('done');
    expect(written).to.have.length(100);
    expect(new Set(written)).to.have.property('size', 1);
    expect(written[0]).to.be.below(100);
  });

  it('are refused to an effect that must not run twice, without a name, and after the end', async () => {
    let late: EffectContext | undefined;
    await work(async (context) => {
      late = context;
      return context.step('', act('one'));
    });
    expect(await outcome()).to.equal('The name of a step has 1 to 200 characters.');
    const refused = (error: unknown): string => (error as Error).message;
    expect(await late?.step('two', act('two')).catch(refused)).to.include('after its effect had ended');
    const fenced = defineKind({
      kind: 'worker',
      version: 1,
      machine,
      effects: {
        work: {
          guarantee: 'at-most-once',
          run: (_input: null, { step }) => step('one', act('one')) as Promise<string>,
          recover: async () => 'recovered',
        },
      },
      view: ({ context }) => ({ ...context }),
    }) as unknown as Kind;
    await house.stop();
    house = await openHouse([fenced]);
    await house.supervisor.spawn('worker', { id: 'w' });
    await house.environment.settle();
    expect([await outcome(), ran]).to.deep.equal([
      'Steps are of at-least-once effects: one that a crash cuts off is run again.',
      [],
    ]);
  });
});
