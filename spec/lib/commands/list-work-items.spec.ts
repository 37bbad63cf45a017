import { expect } from 'chai';
import { createWorkItem } from '../../../lib/commands/create-work-item.js';
import { listWorkItems } from '../../../lib/commands/list-work-items.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import { openDesk, type DeskHouse } from './desk-fixture.js';

describe('the totals of work items', () => {
  let house: DeskHouse;
  before(async () => { house = await openDesk(); });
  after(() => house.close());

  const totals = async () => (await listWorkItems(house.desk, { limit: 20, offset: 0 }, operator)).totals;
  const mint = async (): Promise<string> => {
    const done = await createWorkItem(house.desk, { title: 'x' }, { by: operator });
    if (isRefusal(done)) throw new Error(done.message);
    return done.value.id;
  };
  const move = (id: string, status: string) => house.desk.supervisor.ask('work-item', id, { type: 'item.move', status, note: 'because' });

  it('are right when counted while others write, and stay right', async () => {
    const first = await Promise.all(Array.from({ length: 60 }, mint));
    const writing = Promise.all([...first.slice(0, 20).map((id) => move(id, 'executing')), ...Array.from({ length: 20 }, mint)]);
    await totals();
    await writing;
    expect(await totals()).to.include({ backlog: 60, executing: 20 });
    for (const id of first.slice(0, 5)) await move(id, 'done');
    expect(await totals()).to.include({ backlog: 60, executing: 15, done: 5 });
    const byIndex = await listWorkItems(house.desk, { source: 'human', limit: 20, offset: 0 }, operator); // counted another way
    expect(byIndex.totals).to.deep.equal(await totals());
    expect((await listWorkItems(house.desk, { status: 'done', limit: 3, offset: 0 }, operator))).to.include({ total: 5, nextOffset: 3 });
  });
});
