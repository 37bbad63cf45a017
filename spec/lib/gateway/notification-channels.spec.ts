import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnnouncement } from '../../../lib/home/announce.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { vendor, type Asked, type Vendor } from '../../actors/connectors/vendor.js';
import { makeClient, type Client } from './fixture.js';

/** Several channels of one connector: whose buttons count where. */
describe('notifications to several channels', () => {
  let far: Vendor;
  let folder: string;
  let served: Instance;
  let operator: Client;
  const presses: { readonly update_id: number }[] = [];
  let polled: (() => void) | undefined;
  const layout = () => layoutOf({ home: join(folder, 'home') });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'channels-'));
    let messages = 0;
    far = await vendor(async ({ path, body }) => {
      if (path.endsWith('/sendMessage')) return ok({ message_id: (messages += 1) });
      if (!path.endsWith('/getUpdates')) return ok(true);
      const there = () => presses.filter(({ update_id: id }) => id >= Number(body['offset'] ?? 0));
      while (there().length === 0)
        await new Promise<void>((resolve) => {
          polled = resolve;
        });
      return ok(there());
    });
    await mkdir(layout().home, { recursive: true });
    await configure();
    served = await startInstance({ layout: layout(), port: 0 });
    const token = String((await readAnnouncement(layout().announcement))?.token);
    operator = makeClient(Number(new URL(served.url).port), { authorization: `Bearer ${token}` });
  });
  after(async () => {
    await served.close();
    await far.close();
    await rm(folder, { recursive: true, force: true });
  });

  const configure = (): Promise<void> =>
    writeFile(
      layout().config,
      `connectors:
  instances:
    - { name: team, type: telegram, botToken: token-1, apiRoot: '${far.url}' }
notify:
  afterSeconds: 0
  to:
    - { connector: team, channel: '77', decidedBy: ['1'] }
    - { connector: team, channel: '78', decidedBy: ['2'] }
`,
    );
  function press(id: string, from: number, chat: number, data = ''): void {
    const message = { message_id: 1, chat: { id: chat } };
    presses.push({
      update_id: presses.length + 1,
      callback_query: { id, data, from: { id: from, is_bot: false }, message },
    } as { readonly update_id: number });
    polled?.();
  }
  async function asks(request: string): Promise<string> {
    const { body } = await operator.post('/api/work-items', { title: 'A ship' });
    const { id } = body.workItem as { id: string };
    const asked = await operator.post(`/api/work-items/${id}/approval/request`, { request });
    expect(asked.status, JSON.stringify(asked.body)).to.equal(200);
    return id;
  }
  const to = (path: string, fits: (body: Asked['body']) => boolean): Promise<Asked> =>
    far.asked((asked) => asked.path.endsWith(path) && fits(asked.body));
  const said = async (press: string): Promise<unknown> =>
    (await to('/answerCallbackQuery', ({ callback_query_id: id }) => id === press)).body['text'];
  const buttonOf = async (chat: string): Promise<string> => {
    const { body } = await to('/sendMessage', ({ chat_id: id }) => id === chat);
    const { inline_keyboard: rows } = body['reply_markup'] as {
      inline_keyboard: { callback_data: string }[][];
    };
    return String(rows[0]?.[0]?.callback_data);
  };
  const approvalOf = async (id: string): Promise<unknown> =>
    (await operator.get(`/api/work-items/${id}`)).body.workItem.approvalState;

  // Both number their first message 1, and it says the same: the first channel's people were asked for in the second
  it('take the decision of the people of each, of what stands on a button', async () => {
    const id = await asks('May it sail?');
    const [data] = await Promise.all([buttonOf('78'), buttonOf('77')]);
    press('forged', 2, 78, data.replace(/approve$/, 'escalate'));
    expect(await said('forged')).to.match(/^This cannot be decided here/);
    press('nonsense', 2, 78, data.replace(/approve$/, '__proto__'));
    expect(await said('nonsense')).to.match(/^This cannot be decided here/);
    press('stranger', 3, 78, data);
    expect(await said('stranger')).to.equal('You may not decide this here.');
    expect(await approvalOf(id)).to.equal('pending');
    press('theirs', 2, 78, data);
    expect(await said('theirs')).to.equal(undefined);
    expect(await approvalOf(id)).to.equal('approved');
    press('again', 2, 78, data);
    expect(await said('again')).to.be.a('string');
  });
});

const ok = (result: unknown) => ({ body: { ok: true, result } });
