import { expect } from 'chai';
import type { App } from '../../../../lib/commands/app.js';
import { receiveMessage } from '../../../../lib/commands/sessions/receive-message.js';
import { isRefusal } from '../../../../machines/refusals.js';
import { openApp, type AppFixture } from '../app-fixture.js';

describe('receiveMessage', () => {
  let house: AppFixture;
  let app: App;
  beforeEach(async () => {
    house = await openApp();
    const instance = { name: 'chat', type: 'chat', employee: null, allowFrom: ['*'], settings: {} };
    app = {
      ...house.app,
      connectors: { types: [], instances: () => [instance as never], reread: async () => undefined },
    }; // of an instance only these members are looked at
  });
  afterEach(() => house.close());

  const hear = (id: string, text = 'Hello') =>
    receiveMessage(app, 'chat', { id, from: 'ann', channel: 'general', thread: null, text });
  const sessions = async () =>
    (await app.supervisor.list('session', { index: 'all', limit: 10 })).items.map(({ id }) => id);

  it('takes two first messages at once into one conversation: the second was once refused', async () => {
    await Promise.all([hear('1'), hear('2', 'And?')]);
    const [id, ...others] = await sessions();
    expect(others).to.deep.equal([]);
    expect(
      (await app.supervisor.rows({ kind: 'session', id: id ?? '' }, 'messages')).map(
        ({ row }) => (row as { content: string }).content,
      ),
    ).to.have.members(['Hello', 'And?']);
  });

  it('begins again where the session of a conversation was deleted: nothing that was said there was heard any more', async () => {
    await hear('1');
    const [first = ''] = await sessions();
    for (const type of ['session.stop', 'session.delete'] as const)
      expect(isRefusal(await app.supervisor.ask('session', first, { type })), type).to.equal(false);
    for (const id of ['2', '3']) expect(await hear(id)).to.equal('heard');
    const [second, ...others] = await sessions();
    expect([second !== first, others]).to.deep.equal([true, []]);
  });
});
