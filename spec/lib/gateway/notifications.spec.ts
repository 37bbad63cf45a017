import { expect } from 'chai';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnnouncement } from '../../../lib/home/announce.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { vendor, type Asked, type Vendor } from '../../actors/connectors/vendor.js';
import { pushBrowser } from '../../helpers/push-service.js';
import { cookiesOf } from '../records/office.js';
import { makeClient, poll, type Client } from './fixture.js';

/**
 * What waits reaches people who look at nothing: a channel of a connector and a program of the operator. The vendor is
 * a real server, the program a real one.
 */
describe('notifications', () => {
  let far: Vendor;
  let folder: string;
  let served: Instance;
  let operator: Client;
  let messages = 0;
  const post = '/bottoken-1/sendMessage';
  const layout = () => layoutOf({ home: join(folder, 'home') });
  const taken = (): string => join(folder, 'taken');

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'notifications-'));
    far = await vendor(async ({ path, body }) => {
      if (path === post) return ok({ message_id: (messages += 1) });
      return ok(path.endsWith('/getUpdates') ? await pressedFrom(Number(body['offset'] ?? 0)) : true);
    });
    await mkdir(join(layout().org, 'build'), { recursive: true });
    const program = join(folder, 'tell');
    await writeFile(program, `#!/bin/sh\ncat >> '${taken()}'\n`);
    await chmod(program, 0o755);
    await configure({ afterSeconds: 0 }, `  command: [${program}]\n`);
    await writeFile(
      join(layout().org, 'build', 'ann.yaml'),
      'name: ann\ndisplayName: Ann\ndepartment: build\nrank: employee\nengine: clerk\nmodel: clerk\n' +
        'persona: Ann\nalwaysNotify: true\n',
    );
    await start();
  });
  after(async () => {
    await served.close();
    await far.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function configure(notify: { readonly afterSeconds: number }, more = ''): Promise<void> {
    await writeFile(
      layout().config,
      `connectors:
  instances:
    - { name: team, type: telegram, botToken: token-1, apiRoot: '${far.url}' }
notify:
  afterSeconds: ${notify.afterSeconds}
  url: https://troupe.example.org/
  to:
    - { connector: team, channel: '77', decidedBy: ['1'] }
${more}`,
    );
  }
  async function start(): Promise<void> {
    served = await startInstance({ layout: layout(), port: 0 });
    const token = String((await readAnnouncement(layout().announcement))?.token);
    operator = makeClient(Number(new URL(served.url).port), { authorization: `Bearer ${token}` });
  }
  const presses: { readonly update_id: number }[] = [];
  const polling = new Set<() => void>();
  /** Updates from an offset on, as the vendor keeps them until they are asked for no more. */
  async function pressedFrom(offset: number): Promise<readonly object[]> {
    const there = (): readonly object[] => presses.filter(({ update_id: id }) => id >= offset);
    while (there().length === 0) await new Promise<void>((resolve) => polling.add(resolve));
    return there();
  }
  function press(id: string, from: number, data = ''): void {
    const message = { message_id: 1, chat: { id: 77 } };
    presses.push({
      update_id: presses.length + 1,
      callback_query: { id, data, from: { id: from, is_bot: false }, message },
    } as { readonly update_id: number });
    for (const resolve of polling) resolve();
    polling.clear();
  }
  async function asks(request: string): Promise<string> {
    const { body } = await operator.post('/api/work-items', { title: 'A ship' });
    const { id } = body.workItem as { id: string };
    const asked = await operator.post(`/api/work-items/${id}/approval/request`, { request });
    expect(asked.status, JSON.stringify(asked.body)).to.equal(200);
    return id;
  }
  const posted = (text: string): Promise<Asked> =>
    far.asked(({ path, body }) => path === post && String(body['text']).includes(text));
  const edited = (text: string): Promise<Asked> =>
    far.asked(({ path, body }) => path.endsWith('/editMessageText') && String(body['text']).includes(text));
  /** What was shown to one who pressed a button. */
  const said = (press: string): Promise<Asked> =>
    far.asked(
      ({ path, body }) => path.endsWith('/answerCallbackQuery') && body['callback_query_id'] === press,
    );
  interface Told {
    readonly event: string;
    readonly key: string;
    readonly things: readonly Readonly<Record<string, unknown>>[];
  }
  /** What the program was given. */
  const told = async (fits: (one: Told) => boolean): Promise<Told> => {
    const all = await poll(
      async () => {
        await operator.get('/api/notifications');
        return (await readFile(taken(), 'utf8').catch(() => ''))
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Told);
      },
      (found) => found.some(fits),
    );
    return all.find(fits) as Told;
  };
  const sentBy = (name: string) =>
    poll(
      () => operator.get('/api/notifications'),
      ({ body }) =>
        (body.destinations as { name: string; status: string; failures: number }[]).some(
          (one) => one.name === name && one.status === 'idle' && one.failures === 0,
        ),
    );
  const buttonsOf = ({ body }: Asked): readonly { text: string; callback_data: string }[] =>
    (body['reply_markup'] as { inline_keyboard: [] } | undefined)?.inline_keyboard.flat() ?? [];
  const auditLog = async (): Promise<string> => {
    const files = (await readdir(layout().audit)).filter((name) => name.endsWith('.jsonl')); // not what is renamed
    return (await Promise.all(files.map((file) => readFile(join(layout().audit, file), 'utf8')))).join('');
  };
  const approvalOf = async (id: string): Promise<unknown> =>
    (await operator.get(`/api/work-items/${id}`)).body.workItem.approvalState;

  it('are sent with what is asked, a link and buttons, and a button decides', async () => {
    const id = await asks('May the ship sail?');
    const sent = await posted('May the ship sail?');
    expect(sent.body['chat_id']).to.equal('77');
    expect(sent.body['text']).to.include(
      `https://troupe.example.org/#/inbox/${encodeURIComponent(`work-item/${id}/approval`)}`,
    );
    expect(JSON.stringify(sent.body)).to.not.include('token-1');
    const [approve, reject] = buttonsOf(sent);
    expect([approve?.text, reject?.text]).to.deep.equal(['Approve', 'Reject']);
    press('first', 1, approve?.callback_data);
    expect((await edited('Approved by team:1.')).body).to.not.have.property('reply_markup');
    expect(await approvalOf(id)).to.equal('approved');
    const { key, things } = await told(({ event, things: [thing] }) => event === 'over' && thing?.id === id);
    expect(key).to.match(/^command\.\d+\.edit-1$/);
    expect(things[0]).to.deep.include({ what: 'approval', outcome: 'Approved by team:1.' });
    await poll(
      () => operator.get('/api/notifications').then(auditLog),
      (audit) => audit.includes('"device:team:1"'),
    );
  });

  it('decide nothing where another person presses, or what was shown has changed', async () => {
    const id = await asks('May it turn back?');
    const [approve] = buttonsOf(await posted('May it turn back?'));
    press('stranger', 2, approve?.callback_data);
    expect((await said('stranger')).body['text']).to.equal('You may not decide this here.');
    expect(
      (await operator.post(`/api/work-items/${id}/approval/request`, { request: 'May it sink?' })).status,
    ).to.equal(200);
    press('late', 1, approve?.callback_data);
    expect((await said('late')).body['text']).to.match(/^It (?:waits no more|has changed)/);
    await posted('May it sink?');
    await edited('It has changed');
    expect(await approvalOf(id)).to.equal('pending');
    await operator.post(`/api/work-items/${id}/approval`, { decision: 'reject' });
    await edited('Rejected by the operator.');
  });

  it('have no buttons where not all that is asked can be read', async () => {
    await asks(`Long: ${'x'.repeat(2_500)}`);
    expect((await posted('Long: x')).body).to.not.have.property('reply_markup');
  });

  it('are sent again until they arrive, once', async () => {
    far.next(post, { status: 500, body: { ok: false, error_code: 500, description: 'broken' } }, 'reset');
    await asks('May it wait?');
    await posted('May it wait?');
    await operator.post('/api/inspect/actors/notifier/team%3A77/send', { type: 'notifier.retry' });
    await sentBy('team:77');
    const before = messages;
    await asks('And this?');
    await posted('And this?');
    expect(messages).to.equal(before + 1);
  });

  it('are not sent for what was decided in time, but at once for an employee with alwaysNotify', async () => {
    await configure({ afterSeconds: 3_600 });
    await poll(
      () => operator.get('/api/config'),
      ({ body }) => body.notify.afterSeconds === 3_600,
    );
    const quiet = await asks('Quietly?');
    const { body } = await operator.post('/api/work-items', { title: 'B', assignee: 'ann' });
    await operator.post(`/api/work-items/${body.workItem.id}/approval/request`, { request: 'Ann asks' });
    await posted('Ann asks');
    await operator.post(`/api/work-items/${quiet}/approval`, { decision: 'approve' });
    await operator.post(`/api/work-items/${body.workItem.id}/approval`, { decision: 'approve' });
    await edited('Ann asks');
    expect(far.requests.filter((one) => JSON.stringify(one.body).includes('Quietly?'))).to.deep.equal([]);
  });

  it('survive a restart: what was sent is not sent again, what was held back is', async () => {
    const held = await asks('Held over the night?');
    await poll(
      () => operator.get('/api/notifications'),
      ({ body }) =>
        (body.destinations as { name: string; status: string }[]).some(
          ({ name, status }) => name === 'team:77' && status === 'holding',
        ),
    );
    await served.close();
    const before = messages;
    await configure({ afterSeconds: 0 });
    far.next(post, 'reset');
    await start();
    // It was due in an hour when it came; a person hurries it
    expect(messages).to.equal(before);
    await operator.post(`/api/work-items/${held}/approval/request`, { request: 'Held over two nights?' });
    await posted('Held over two nights?');
    expect(
      far.requests.filter(({ body }) => String(body['text']).includes('Held over the night?')),
    ).to.deep.equal([]);
  });

  // Elsewhere a small house sends; here the gateway does, with all that it is made of.
  it('go to a paired browser through the gateway as it runs, until it is revoked', async () => {
    const { port } = new URL(served.url);
    const anyone = makeClient(Number(port), {});
    const { body: challenge } = await anyone.post('/api/auth/pairing-challenges');
    await writeFile(challenge.path, challenge.nonce, { mode: 0o600 });
    const { challengeId } = challenge;
    const { body: code } = await anyone.post('/api/auth/pairing-codes', { challengeId });
    const paired = await anyone.post('/api/auth/pair', code);
    const browser = makeClient(Number(port), { cookie: cookiesOf(paired), origin: served.url });
    const { subscription } = pushBrowser('send/x');
    const endpoint = 'https://127.0.0.1:9/inside';
    expect((await browser.call('PUT', '/api/push', { ...subscription, endpoint })).status).to.equal(200);
    const name = `push.${paired.body.device.id}`;
    type Shown = { readonly name: string; readonly failures: number; readonly detail: string };
    const shown = async (): Promise<Shown | undefined> =>
      ((await operator.get('/api/notifications')).body.destinations as Shown[]).find(
        (one) => one.name === name,
      );
    const id = await asks('Who hears this?');
    const failing = await poll(shown, (one) => (one?.failures ?? 0) > 0);
    expect(failing?.detail).to.include('loopback or private');
    await operator.post(`/api/work-items/${id}/approval`, { decision: 'approve' });
    await operator.call('DELETE', `/api/auth/devices/${paired.body.device.id}`);
    await poll(shown, (one) => one === undefined);
  });

  it('are configured in the file alone, and show no program', async () => {
    const { body } = await operator.get('/api/config');
    expect(body.notify).to.not.have.property('command');
    const refused = await operator.call('PUT', '/api/config', { notify: { command: ['/bin/sh'] } });
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'FORBIDDEN']);
  });
});

const ok = (result: unknown) => ({ body: { ok: true, result } });
