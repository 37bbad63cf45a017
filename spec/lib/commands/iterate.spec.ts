import { expect } from 'chai';
import { recordsOf } from '../../../lib/commands/iterate.js';
import { openHouse } from '../gateway/fixture.js';

describe('recordsOf', () => {
  it('leaves out who was deleted after the list was read: a session that is no more once stood in an answer', async () => {
    const house = await openHouse();
    const input = {
      engine: 'pen',
      model: null,
      effort: null,
      employee: null,
      parentSessionId: null,
      ancestors: [],
      workItemId: null,
      title: null,
      cwd: house.home,
      source: 'web',
      sourceRef: null,
      interruptOnNewMessage: true,
      turnDeadlineMs: 1000,
    };
    for (const id of ['a', 'b']) await house.supervisor.spawn('session', { id, input });
    await house.supervisor.ask('session', 'a', { type: 'session.delete' });
    const records = (await recordsOf(house.supervisor, 'session', ['a', 'b', 'never'])) as { id: string }[];
    expect(records.map(({ id }) => id)).to.deep.equal(['b']);
    await house.close();
  });
});
