import { expect } from 'chai';
import { assign, setup } from 'xstate';
import type { Kind } from '../../../../actors/contracts.js';
import { refuse } from '../../../../machines/refusals.js';
import { openHouse, type House } from '../../../fixtures/house.js';

/**
 * Who may is policy, when is the statechart: what no state takes now is refused in one place, which reads the
 * chart. It had been called an unknown event, and kinds told of their states in their policies instead.
 */
describe('an event that no state takes now', () => {
  const lamp = setup({
    types: { context: {} as { oil: number; asked: number } },
    guards: { hasOil: ({ context }) => context.oil > 0 },
    actions: { burn: assign({ oil: ({ context }) => context.oil - 1 }) },
  }).createMachine({
    id: 'lamp',
    context: { oil: 1, asked: 0 },
    initial: 'dark',
    states: {
      dark: {
        initial: 'cold',
        on: { light: { guard: 'hasOil', target: 'lit', actions: 'burn' }, sell: 'sold' },
        states: { cold: {}, warm: {} },
      },
      lit: { on: { blow: 'dark.warm', trim: {} } },
      sold: { type: 'final' },
    },
  });
  let judged = 0;
  const kindOf = (extra: Partial<Kind<typeof lamp>> = {}): Kind =>
    ({
      kind: 'lamp',
      version: 1,
      machine: lamp,
      view: ({ value, context }) => ({ value, oil: context.oil }),
      policy: () => {
        judged += 1;
        return undefined;
      },
      ...extra,
    }) satisfies Kind<typeof lamp> as unknown as Kind;
  let house: House;
  const open = async (kind: Kind): Promise<void> => {
    house = await openHouse([kind]);
    await house.supervisor.spawn('lamp', { id: 'l' });
  };
  const ask = (type: string) => house.supervisor.ask('lamp', 'l', { type });
  afterEach(() => house.stop());

  it('is a conflict that names the states which take it', async () => {
    await open(kindOf());
    const offered = house.store.offered;
    expect(await ask('blow')).to.deep.include({
      code: 'CONFLICT',
      status: 409,
      message: 'The lamp l does not accept "blow" while it is cold; it does while it is lit.',
      details: { kind: 'lamp', id: 'l', event: 'blow', state: { dark: 'cold' }, states: ['lit'] },
    });
    await ask('light');
    expect(await ask('light')).to.have.deep.nested.property('details.states', ['dark.cold', 'dark.warm']);
    expect(house.store.offered).to.be.greaterThan(offered);
  });

  it('names the condition where the state would take it', async () => {
    await open(kindOf());
    await ask('light');
    await ask('blow');
    expect(await ask('light')).to.deep.include({
      code: 'CONFLICT',
      message:
        'The lamp l does not accept "light" now: its statechart allows it in dark.warm only if a guard passes (hasOil).',
    });
  });

  it('is unknown where no state ever takes it', async () => {
    await open(kindOf());
    expect(await ask('eat')).to.deep.include({ code: 'UNKNOWN_EVENT', status: 400 });
    expect(await ask('toString')).to.deep.include({ code: 'UNKNOWN_EVENT' });
  });

  it('is refused in the words of the kind, where it has better ones', async () => {
    await open(
      kindOf({
        notInState: ({ value }, event) =>
          (event as { type: string }).type === 'blow'
            ? refuse('CONFLICT', { value }, 'A dark lamp cannot be blown out.')
            : undefined,
      }),
    );
    expect(await ask('blow')).to.include({ message: 'A dark lamp cannot be blown out.' });
    expect(await ask('trim')).to.include({
      message: 'The lamp l does not accept "trim" while it is cold; it does while it is lit.',
    });
  });

  // Each kind worded it by itself, and none said where it is allowed
  it('says what the kind calls it, under its code, and where the chart allows it', async () => {
    await open(
      kindOf({
        notInState: () => ({
          code: 'TERMINAL',
          details: { lampId: 'l' },
          action: 'be blown out',
          remedy: 'Light it first.',
        }),
      }),
    );
    expect(await ask('blow')).to.deep.include({
      code: 'TERMINAL',
      message: 'The lamp l cannot be blown out while it is cold; it can while it is lit. Light it first.',
      details: {
        kind: 'lamp',
        id: 'l',
        event: 'blow',
        state: { dark: 'cold' },
        states: ['lit'],
        lampId: 'l',
      },
    });
  });

  it('is shown by `why` with the same refusal, and the policy is asked once per event', async () => {
    await open(kindOf({ moves: () => [{ event: { type: 'blow' } }, { event: { type: 'light' } }] }));
    const why = await house.supervisor.why({ kind: 'lamp', id: 'l' }, { type: 'operator' });
    expect(why?.next.map(({ event, allowed, refusal }) => [event, allowed, refusal?.code])).to.deep.equal([
      ['blow', false, 'CONFLICT'],
      ['light', true, undefined],
    ]);
    judged = 0;
    await ask('light');
    expect(judged).to.equal(1);
  });
});
