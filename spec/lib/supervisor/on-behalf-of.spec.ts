import { expect } from 'chai';
import type { Kind } from '../../../actors/contracts.js';
import { operator, system, type Caller } from '../../../machines/caller.js';
import { refuse } from '../../../machines/refusals.js';
import { openHouse, rejection, seen, type House } from '../../fixtures/house.js';
import { counterKind } from '../../fixtures/kinds.js';

const agent = (id: string): Caller => ({ type: 'session', id, employee: null, ancestors: [] });

describe('on behalf of', () => {
  let house: House;
  let refused: readonly string[];
  let broken: boolean;
  const kind = (): Kind =>
    counterKind({
      policy: (_snapshot, _event, { onBehalfOf }) => {
        if (broken) throw new Error('broken policy');
        return onBehalfOf.type === 'session' && refused.includes(onBehalfOf.id)
          ? refuse('FORBIDDEN', {}, `not ${onBehalfOf.id}`)
          : undefined;
      },
    }) as unknown as Kind;
  beforeEach(async () => {
    refused = [];
    broken = false;
    house = await openHouse([kind()]);
    await house.supervisor.spawn('counter', { id: 'a' });
  });
  afterEach(() => house.stop());
  const add = (...causes: readonly [Caller, ...Caller[]]) =>
    house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }, { by: system('run'), onBehalfOf: causes });
  const sum = async (): Promise<unknown> => seen(await house.supervisor.get('counter', 'a'))['n'];

  it('is judged by everybody behind the event, and the narrowest decides', async () => {
    refused = ['low'];
    expect(await add(agent('low'))).to.include({ code: 'FORBIDDEN', message: 'not low' });
    expect(await add(operator, agent('low'))).to.include({ code: 'FORBIDDEN' });
    expect(await add(agent('low'), operator)).to.include({ code: 'FORBIDDEN' });
    expect(await sum()).to.equal(0);
    expect(await add(operator, agent('high'))).not.to.have.property('code');
  });

  // A creation was judged as the first of them alone.
  it('is judged so at creation, too', async () => {
    await house.stop();
    const made = counterKind({
      validateInput: ({ onBehalfOf }) =>
        onBehalfOf?.type === 'session' ? refuse('FORBIDDEN', {}, `not ${onBehalfOf.id}`) : undefined,
    }) as unknown as Kind;
    house = await openHouse([made]);
    const spawn = (...causes: readonly [Caller, ...Caller[]]) =>
      house.supervisor.spawn('counter', { id: 'b', by: system('run'), onBehalfOf: causes });
    expect(await spawn(operator, agent('low'))).to.include({ code: 'FORBIDDEN', message: 'not low' });
    expect(await spawn(operator)).not.to.have.property('code');
  });

  it('is judged so in a transaction, too', async () => {
    refused = ['low'];
    const done = await house.supervisor.transact({
      name: 'both',
      actors: [{ kind: 'counter', id: 'a' }],
      by: system('run'),
      onBehalfOf: [operator, agent('low')],
      run: (tx) => {
        tx.send({ kind: 'counter', id: 'a' }, { type: 'add', n: 1 });
        return null;
      },
    });
    expect(done).to.include({ code: 'FORBIDDEN' });
    expect(await sum()).to.equal(0);
  });

  it('stands in the log beside the sender, and no event can say so of itself', async () => {
    await add(agent('one'), operator);
    await house.supervisor.ask(
      'counter',
      'a',
      { type: 'add', n: 1, onBehalfOf: operator },
      { by: agent('two') },
    );
    const [second, first] = await house.supervisor.history({ kind: 'counter', id: 'a' });
    expect(first).to.deep.include({ by: 'run', onBehalfOf: ['session:one', 'operator'] });
    expect(second).to.include({ by: 'session:two' }).and.not.to.have.property('onBehalfOf');
    expect(second?.event).not.to.have.property('onBehalfOf');
  });

  it('stays with a dead letter: retried by a person, it may do no more than before', async () => {
    broken = true;
    await rejection(add(agent('low')));
    broken = false;
    refused = ['low'];
    const [letter] = await house.supervisor.deadLetters();
    expect(await house.supervisor.retry(letter?.id ?? '', operator)).to.include({ code: 'FORBIDDEN' });
    refused = [];
    expect(await house.supervisor.retry(letter?.id ?? '', operator)).to.equal(true);
    await house.environment.settle();
    const [entry] = await house.supervisor.history({ kind: 'counter', id: 'a' });
    expect(entry).to.deep.include({ by: 'run', onBehalfOf: ['session:low'] });
  });
});
