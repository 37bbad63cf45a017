import { expect } from 'chai';
import type { Kind } from '../../../../actors/contracts.js';
import { keys } from '../../../../lib/store/keys.js';
import { operator, system, type Caller } from '../../../../machines/caller.js';
import { refuse } from '../../../../machines/refusals.js';
import { openHouse, rejection, seen, type House } from '../../../fixtures/house.js';
import { counterKind } from '../../../fixtures/kinds.js';

const day = 24 * 3_600_000;
const agent = (id: string): Caller => ({ type: 'session', id, employee: null, ancestors: [] });

describe('dead letters', () => {
  let house: House;
  let broken: boolean;
  let admits: (by: Caller, onBehalfOf: Caller) => boolean;
  const kind = (): Kind =>
    counterKind({
      policy: (_snapshot, _event, { by, onBehalfOf }) => {
        if (broken) throw new Error('broken policy');
        return admits(by, onBehalfOf) ? undefined : refuse('FORBIDDEN', {}, 'not you');
      },
    }) as unknown as Kind;
  const open = async (limits = {}): Promise<void> => {
    broken = true;
    admits = () => true;
    house = await openHouse([kind()], { limits });
    await house.supervisor.spawn('counter', { id: 'a' });
  };
  afterEach(() => house.stop());
  const fail = async (n: number, by: Caller = operator, id = 'a'): Promise<void> => {
    await rejection(house.supervisor.ask('counter', id, { type: 'add', n }, { by }));
  };
  /** One failure each: an actor that fails too often is halted. */
  const failAll = async (many: number): Promise<void> => {
    for (let n = 0; n < many; n += 1) {
      await house.supervisor.spawn('counter', { id: `c${n}` });
      await fail(n, operator, `c${n}`);
    }
  };
  const numbers = async (query = {}): Promise<unknown[]> =>
    (await house.supervisor.deadLetters(query)).map(({ event }) => (event as { n: number }).n);
  const rows = (start: string): Promise<number> => house.mortal.count({ gte: start, lt: `${start}\x7f` });
  const sum = async (): Promise<unknown> => seen(await house.supervisor.get('counter', 'a'))['n'];

  // They came in the order of their random names, and the one who had more than a page saw any of them.
  it('are listed newest first, page by page, at the same moment and over a wall that is set back, too', async () => {
    await open();
    await failAll(4);
    await house.environment.setWall(-day);
    await house.environment.advance(10);
    await fail(4);
    const all = await house.supervisor.deadLetters();
    expect(all).to.have.length(5);
    expect(await numbers({ limit: 1 })).to.deep.equal([4]);
    const paged: unknown[] = [];
    for (let before: string | undefined; ;) {
      const page = await house.supervisor.deadLetters({ limit: 2, ...(before !== undefined && { before }) });
      if (page.length === 0) break;
      paged.push(...page.map(({ id }) => id));
      before = page.at(-1)?.place;
    }
    expect(paged).to.deep.equal(all.map(({ id }) => id));
  });

  it('go after their days, and the oldest when there are too many', async () => {
    await open({ keepDeadLettersDays: 7, deadLettersMax: 600 });
    await fail(-1);
    await house.environment.sleep(8 * day);
    await house.environment.advance(70_000);
    expect([await rows('d/'), await rows('g/')]).to.deep.equal([0, 0]);
    for (let n = 0; n < 1_400; n += 1) {
      await house.supervisor.spawn('counter', { id: `c${n}` });
      await fail(n, operator, `c${n}`);
      await house.environment.advance(1);
    }
    await house.environment.advance(70_000);
    expect([await rows('d/'), await rows('g/')]).to.deep.equal([600, 600]);
    expect(await numbers({ limit: 1 })).to.deep.equal([1_399]);
    expect((await numbers({ limit: 1_000 })).at(-1)).to.equal(800);
  }).timeout(180_000);

  it('of a home from before there was a list are listed, too', async () => {
    await open();
    const letter = (id: string, at: number): [string, string] => [
      keys.deadLetter(id),
      JSON.stringify({
        ...{ id, at, faultId: id, error: 'x', actor: { kind: 'counter', id: 'a' } },
        ...{ event: { type: 'add', n: at }, by: operator },
      }),
    ];
    const { seq, chain } = house.store.head;
    const ops = Array.from({ length: 1_200 }, (_, n) => letter(`f${n}`, 1_000 + ((n * 7) % 1_200)));
    await house.store.write({ first: seq + 1, last: seq, chain, ops });
    await house.restart();
    expect((await numbers({ limit: 1_000 })).slice(0, 3)).to.deep.equal([2_199, 2_198, 2_197]);
    broken = false;
    expect(await house.supervisor.retry('f0', operator)).to.equal(true);
    await house.environment.settle();
    expect([await sum(), await rows('d/'), await rows('g/')]).to.deep.equal([1_000, 1_199, 1_199]);
  });

  describe('tried again', () => {
    const only = async (): Promise<string> => (await house.supervisor.deadLetters())[0]?.id ?? '';
    beforeEach(() => open());

    // The one who could reach the route could repeat anything with anybody's authority.
    it('must be admitted on behalf of who retries them, and stay where they are otherwise', async () => {
      await fail(5, agent('s1'));
      broken = false;
      admits = (by, onBehalfOf) => [by, onBehalfOf].every((one) => one.type === 'session' && one.id === 's1');
      for (const other of [operator, agent('s2')])
        expect(await house.supervisor.retry(await only(), other)).to.include({ code: 'FORBIDDEN' });
      expect(await house.supervisor.deadLetters()).to.have.length(1);
      expect(await house.supervisor.retry(await only(), agent('s1'))).to.equal(true);
      await house.environment.settle();
      expect(await sum()).to.equal(5);
    });

    it('must be admitted from their sender still', async () => {
      await fail(5, agent('s1'));
      broken = false;
      admits = (by) => by.type === 'operator';
      expect(await house.supervisor.retry(await only(), operator)).to.include({ code: 'FORBIDDEN' });
      expect(await house.supervisor.deadLetters()).to.have.length(1);
    });

    it('when they were an event of the system itself are repeated for people, not for agents', async () => {
      await fail(5, system('cron'));
      broken = false;
      admits = (by, onBehalfOf) => by.type === 'system' && onBehalfOf.type !== 'session';
      expect(await house.supervisor.retry(await only(), agent('s1'))).to.include({ code: 'FORBIDDEN' });
      expect(await house.supervisor.retry(await only(), operator)).to.equal(true);
      await house.environment.settle();
      expect(await sum()).to.equal(5);
    });

    // It was taken off the list and then dropped, for the actor took no events any more.
    it('are kept when their actor has ended', async () => {
      await fail(5);
      broken = false;
      await house.supervisor.ask('counter', 'a', { type: 'close' });
      expect(await house.supervisor.retry(await only(), operator)).to.include({ code: 'CONFLICT' });
      expect(await house.supervisor.deadLetters()).to.have.length(1);
    });

    it('are kept when the policy throws still', async () => {
      await fail(5);
      expect(await house.supervisor.retry(await only(), operator)).to.include({
        code: 'CONFLICT',
        message: 'Replaying the event would fail again: policy of the kind "counter" threw: broken policy',
      });
      expect(await house.supervisor.deadLetters()).to.have.length(1);
    });

    it('by two of whom one is not admitted are told each their own answer', async () => {
      await fail(5);
      broken = false;
      admits = (by) => by.type === 'operator';
      const id = await only();
      const answers = await Promise.all([
        house.supervisor.retry(id, operator),
        house.supervisor.retry(id, agent('s2')),
      ]);
      expect(answers[0]).to.equal(true);
      expect(answers[1]).to.include({ code: 'FORBIDDEN' });
    });
  });
});
