import { expect } from 'chai';
import { createWorkItem } from '../../../../lib/commands/work-items/create-work-item.js';
import { textsOf } from '../../../../lib/commands/work-items/work-item-texts.js';
import type { Supervisor } from '../../../../lib/supervisor/contract.js';
import { operator } from '../../../../machines/caller.js';
import { isRefusal } from '../../../../machines/refusals.js';
import { openApp, type AppFixture } from '../app-fixture.js';

describe('the texts of work items', () => {
  let house: AppFixture;
  beforeEach(async () => {
    house = await openApp();
    expect(
      isRefusal(await createWorkItem({ app: house.app, caller: operator }, { title: 'Paint the fence' })),
    ).to.equal(false);
  });
  afterEach(() => house.close());

  const withVerbs = (verbs: Partial<Supervisor>): Supervisor =>
    Object.create(
      house.app.supervisor,
      Object.fromEntries(Object.entries(verbs).map(([name, value]) => [name, { value }])),
    ) as Supervisor;
  const find = async (supervisor: Supervisor, word: string) =>
    (await textsOf(supervisor).search(word, {}, undefined, 10))?.places.map(({ id }) => id);
  const soon = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  };

  it('show a change to the one who searches while someone else is reading it: they saw what had been', async () => {
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { supervisor } = house.app;
    const slow = withVerbs({
      get: async (kind, id) => {
        await held;
        return supervisor.get(kind, id);
      },
    });
    expect(await find(slow, 'fence')).to.deep.equal(['TRP-1']);
    await supervisor.ask('work-item', 'TRP-1', {
      type: 'item.edit',
      patch: { title: 'Paint the gate' },
      expectedVersion: 1,
    });
    const first = find(slow, 'gate');
    await soon();
    const second = find(slow, 'gate');
    await soon();
    go();
    expect([await first, await second]).to.deep.equal([['TRP-1'], ['TRP-1']]);
  });

  it('are read again after they could not be read: every search failed until something changed', async () => {
    let broken = true;
    const { supervisor } = house.app;
    const shaky = withVerbs({
      iterate: (kind, query) =>
        broken ? Promise.reject(new Error('not now')) : supervisor.iterate(kind, query),
    });
    expect(await find(shaky, 'fence').catch((error: Error) => error.message)).to.equal('not now');
    broken = false;
    await soon();
    expect(await find(shaky, 'fence')).to.deep.equal(['TRP-1']);
  });
});
