import { expect } from 'chai';
import { assign, setup } from 'xstate';
import type { Kind, Persisted } from '../../../../actors/contracts.js';
import { defineKind } from '../../../../actors/define-kind.js';
import { openHouse, rejection, seen, type House } from '../../../fixtures/house.js';

type Context = Record<string, unknown>;
const kindOf = (version: number, context: Context, state: string, extra: Partial<Kind> = {}): Kind => {
  const machine = setup({ types: { context: {} as Context, events: {} as { type: 'touch' } } }).createMachine(
    {
      id: 'thing',
      context,
      initial: state,
      states: {
        [state]: {
          on: {
            touch: { actions: assign(({ context: now }) => ({ touched: Number(now['touched'] ?? 0) + 1 })) },
          },
        },
      },
    },
  );
  return defineKind({
    kind: 'thing',
    version,
    machine,
    view: ({ context: now, value }: { context: Context; value: unknown }) =>
      ({ ...now, state: value }) as never,
    ...extra,
  } as never) as Kind;
};

const first = kindOf(1, { n: 1, name: 'old' }, 'open');
const renamed = (persisted: Persisted): Persisted => ({
  ...persisted,
  value: 'begun',
  context: { count: persisted.context['n'] ?? null, name: persisted.context['name'] ?? null },
});
const grown = (persisted: Persisted): Persisted => ({
  ...persisted,
  value: 'ready',
  context: { ...persisted.context, tags: [] },
});
const second = kindOf(2, { count: 0, name: '' }, 'begun', { migrate: { 1: renamed } });
const third = kindOf(3, { count: 0, name: '', tags: [] }, 'ready', { migrate: { 1: renamed, 2: grown } });

describe('versions', () => {
  let house: House;
  const thing = { kind: 'thing', id: 't' };
  const record = () => house.mortal.get('a/thing/t');
  const touch = () => house.supervisor.ask('thing', 't', { type: 'touch' });
  beforeEach(async () => {
    house = await openHouse([first]);
    await house.supervisor.spawn('thing', { id: 't' });
  });
  afterEach(() => house.stop());

  it('are migrated step by step when an actor is loaded, and written with its next commit', async () => {
    const original = await record();
    await house.restart([third]);
    expect(seen(await house.supervisor.get('thing', 't'))).to.deep.equal({
      count: 1,
      name: 'old',
      tags: [],
      state: 'ready',
    });
    expect(await record()).to.equal(original);
    await touch();
    expect(JSON.parse((await record()) ?? '')).to.include({ version: 3, rev: 2 });
    await house.crash([third]);
    expect(seen(await house.supervisor.get('thing', 't'))).to.deep.equal({
      count: 1,
      name: 'old',
      tags: [],
      touched: 1,
      state: 'ready',
    });
  });

  it('are migrated for lists, too, that read records without waking anybody', async () => {
    await house.restart([third]);
    expect(await house.supervisor.iterate('thing', { limit: 10 })).to.deep.equal([
      { id: 't', view: { count: 1, name: 'old', tags: [], state: 'ready' } },
    ]);
    expect(house.supervisor.status.awake).to.equal(0);
  });

  it('leave the past readable: every entry tells the whole of its own version', async () => {
    await touch();
    await house.restart([second]);
    await touch();
    await touch();
    expect((await house.supervisor.past(thing, 2))?.context).to.deep.equal({ n: 1, name: 'old', touched: 1 });
    expect((await house.supervisor.past(thing, 3))?.context).to.deep.equal({
      count: 1,
      name: 'old',
      touched: 1,
    });
    expect((await house.supervisor.past(thing, 4))?.context).to.deep.equal({
      count: 1,
      name: 'old',
      touched: 2,
    });
  });

  const unreadable: readonly (readonly [what: string, kind: Kind, says: RegExp])[] = [
    ['without the migration it needs', kindOf(2, { count: 0 }, 'begun'), /missing migration from version 1/],
    [
      'whose migration throws',
      kindOf(2, { count: 0 }, 'begun', {
        migrate: {
          1: () => {
            throw new Error('lost the key');
          },
        },
      }),
      /could not be migrated to version 2: lost the key/,
    ],
    [
      'whose migration ends in no known state',
      kindOf(2, { count: 0 }, 'begun', { migrate: { 1: (old) => old } }),
      /cannot be restored/,
    ],
    [
      'whose context has another shape',
      kindOf(2, { count: 0 }, 'begun', {
        migrate: { 1: renamed },
        validateContext: (context) => ('tags' in (context as object) ? undefined : 'tags are missing'),
      }),
      /invalid context: tags are missing/,
    ],
  ];
  for (const [what, kind, says] of unreadable) {
    it(`refuse a record ${what}, and keep the original as it is`, async () => {
      const original = await record();
      await house.restart([kind]);
      for (const attempt of [
        () => touch(),
        () => house.supervisor.get('thing', 't'),
        () => house.supervisor.handle('thing', 't').wake(),
        () => house.supervisor.transact({ name: 'x', actors: [thing], run: () => null }),
      ]) {
        const error = await rejection(Promise.resolve().then<unknown>(attempt));
        expect(error).to.include({ name: 'UnreadableRecord' });
        expect(error.message)
          .to.match(says)
          .and.match(/thing t \(version 1\)/);
      }
      expect(await record()).to.equal(original);
      await house.restart([third]);
      expect(seen(await touch())).to.include({ count: 1 });
    });
  }

  it('refuse a record of a newer version', async () => {
    await house.restart([third]);
    await touch();
    await house.restart([second]);
    expect((await rejection(touch())).message).to.match(/it was written by version 3, and this program has/);
  });

  it("that cannot be read stand in no one else's way", async () => {
    await house.restart([kindOf(2, { count: 7 }, 'begun')]);
    await rejection(touch());
    expect(seen((await house.supervisor.spawn('thing', { id: 'new' })) as never)).to.include({ count: 7 });
  });
});
