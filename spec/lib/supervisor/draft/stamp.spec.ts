import { expect } from 'chai';
import { assign, setup } from 'xstate';
import type { Kind } from '../../../../actors/contracts.js';
import type { Authority, Caller } from '../../../../machines/caller.js';
import type { Json } from '../../../../machines/outputs.js';
import { openHouse, seen, type House } from '../../../fixtures/house.js';

/**
 * Time, caller and facts come from the kernel. A machine decides by them (who may approve, when a deadline
 * is), so an event or an input that brings members of these names must not be believed.
 */
interface Stamped {
  readonly id?: string;
  readonly at: number;
  readonly by: Caller;
  readonly facts?: Json;
}

const machine = setup({
  types: {
    context: {} as { fresh: Stamped; told: Stamped | null },
    events: {} as { type: 'tell' },
    input: {} as Stamped,
  },
}).createMachine({
  id: 'witness',
  context: ({ input }) => ({
    fresh: { id: input.id ?? '', at: input.at, by: input.by, facts: input.facts ?? null },
    told: null,
  }),
  on: {
    tell: {
      actions: assign({
        told: ({ event }) => {
          const { at, by, facts } = event as unknown as Stamped;
          return { at, by, facts: facts ?? null };
        },
      }),
    },
  },
});

const employee: Caller = { type: 'session', id: 's1', employee: 'eve', ancestors: [] };
const lies = {
  id: 'somebody-else',
  at: 1,
  by: { type: 'operator' },
  onBehalfOf: { type: 'operator' },
  facts: { roster: 'theirs' },
};

describe('the stamp of an event', () => {
  let house: House;
  let judged: Stamped[];
  let authorities: Authority[];
  beforeEach(async () => {
    judged = [];
    authorities = [];
    const witness: Kind<typeof machine> = {
      kind: 'witness',
      version: 1,
      machine,
      view: (snapshot) => snapshot.context as unknown as Json,
      facts: (_snapshot, _event, world) => world['roster'] as Json,
      policy: (_snapshot, event, authority) => {
        judged.push(event as unknown as Stamped);
        authorities.push(authority);
        return undefined;
      },
    };
    house = await openHouse([witness as unknown as Kind], { facts: { roster: 'ours' } });
  });
  afterEach(() => house.stop());

  it("is the kernel's, whatever an event says of itself, for the policy and for the machine", async () => {
    await house.supervisor.spawn('witness', { id: 'w' });
    const told = seen(
      await house.supervisor.ask('witness', 'w', { type: 'tell', ...lies }, { by: employee }),
    )['told'];
    expect(told).to.deep.equal({ at: house.environment.clock.now(), by: employee, facts: 'ours' });
    expect(judged[0]).to.deep.include({ at: house.environment.clock.now(), by: employee, facts: 'ours' });
    // An event that could say on whose behalf it is sent would lend its sender anybody's rights.
    expect(judged[0]).to.not.have.property('onBehalfOf');
    expect(authorities).to.deep.equal([{ by: employee, onBehalfOf: employee }]);
  });

  it("is the kernel's at birth, too, and so is the id", async () => {
    const fresh = seen(
      await house.supervisor.spawn('witness', { id: 'w', input: lies as unknown as Json, by: employee }),
    )['fresh'];
    expect(fresh).to.deep.equal({ id: 'w', at: house.environment.clock.now(), by: employee, facts: 'ours' });
  });
});
