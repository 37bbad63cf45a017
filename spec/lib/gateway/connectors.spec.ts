import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deliveryIdOf } from '../../../lib/client/decision.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { readAnnouncement } from '../../../lib/home/announce.js';
import { startInstance } from '../../../lib/instance.js';
import { webhookSignature } from '../../../actors/connectors/webhook.js';
import { verdict, type AuthorityId } from '../../../lib/gateway/authorization.js';
import { farSide, type FarSide } from '../../actors/connectors/far-side.js';
import { vendor, type Vendor } from '../../actors/connectors/vendor.js';
import { makeClient, poll, watch, type Client } from './fixture.js';

const secret = 'a secret of the specs';

/** A whole gateway over a home with a configuration: what a person has who configures a connector. */
async function openHome(config: string, files: Readonly<Record<string, string>> = {}) {
  const layout = layoutOf({ home: await mkdtemp(join(tmpdir(), 'connectors-')) });
  await mkdir(join(layout.org, 'build'), { recursive: true });
  for (const [path, content] of Object.entries(files)) await writeFile(join(layout.home, path), content);
  const configure = (text: string): Promise<void> => writeFile(layout.config, text);
  await configure(config);
  const served = await startInstance({ layout, port: 0 });
  const port = Number(new URL(served.url).port);
  const token = String((await readAnnouncement(layout.announcement))?.token);
  const client = (headers: Record<string, string>): Client => makeClient(port, headers);
  return {
    served,
    configure,
    port,
    token,
    operator: client({ authorization: `Bearer ${token}` }),
    client,
    async close() {
      await served.close();
      await rm(layout.home, { recursive: true, force: true });
    },
  };
}
const hook = (url: string, name = 'hook', more = ''): string =>
  `    - name: ${name}\n      type: webhook\n      url: ${url}\n      secret: ${secret}\n${more}`;
const running = (home: { readonly operator: Client }, name: string, status = 'running') =>
  poll(
    () => home.operator.get('/api/connectors'),
    ({ body }) =>
      (body as { name: string; status: string }[]).some((one) => one.name === name && one.status === status),
  );

describe('/api/connectors', () => {
  let far: FarSide;
  let home: Awaited<ReturnType<typeof openHome>>;
  beforeEach(async () => {
    far = await farSide();
  });
  afterEach(async () => {
    await home.close();
    await far.close();
  });

  it('starts what is configured, shows its health, sends, and tells what became of it', async () => {
    home = await openHome(`connectors:\n  instances:\n${hook(far.url)}`);
    await running(home, 'hook');
    const { body } = await home.operator.get('/api/connectors');
    expect(body).to.deep.equal([
      {
        name: 'hook',
        instanceId: 'hook',
        status: 'running',
        capabilities: { threading: true, messageEdits: false, reactions: false, attachments: false },
      },
    ]);
    const socket = await watch(`ws://127.0.0.1:${home.port}/ws`, { authorization: `Bearer ${home.token}` });
    const sent = await home.operator.post('/api/connectors/hook/send', {
      channel: 'general',
      text: 'Hello',
      idempotencyKey: 'once',
    });
    expect([sent.status, sent.body.status]).to.deep.equal([200, 'sent']);
    const again = await home.operator.post('/api/connectors/hook/send', {
      channel: 'general',
      text: 'Hello',
      idempotencyKey: 'once',
    });
    expect([again.status, again.body]).to.deep.equal([200, sent.body]);
    const posts = far.got.filter(({ method }) => method === 'POST');
    expect(posts).to.have.lengthOf(1);
    const [post] = posts;
    expect(post?.headers['x-svc-signature']).to.equal(
      webhookSignature(secret, String(post?.headers['x-svc-timestamp']), String(post?.body)),
    );
    far.answers = [{ status: 500 }, { status: 400 }];
    expect(
      (await home.operator.post('/api/connectors/hook/send', { channel: 'general', text: 'x' })).body.status,
    ).to.equal('unknown');
    expect(
      (await home.operator.post('/api/connectors/hook/send', { channel: 'general', text: 'y' })).body.status,
    ).to.equal('failed');
    const { body: log } = await home.operator.get('/api/connectors/hook/deliveries');
    expect(log.deliveries.map(({ status }: { status: string }) => status)).to.deep.equal([
      'sent',
      'unknown',
      'failed',
    ]);
    const newest = (await home.operator.get('/api/connectors/hook/deliveries?limit=2')).body;
    expect(newest.deliveries).to.deep.equal(log.deliveries.slice(1));
    const older = `/api/connectors/hook/deliveries?limit=2&cursor=${newest.nextCursor}`;
    expect((await home.operator.get(older)).body).to.deep.equal({
      deliveries: log.deliveries.slice(0, 1),
      nextCursor: null,
    });
    expect(JSON.stringify([log, body, socket.frames])).not.to.include(secret);
    expect((await home.operator.get('/api/status')).body.connectors.hook.status).to.equal('running');
    socket.ws.terminate();
  });

  it('keeps what may not have arrived until a person decides, and sends it again once', async () => {
    home = await openHome(`connectors:\n  instances:\n${hook(far.url)}`);
    await running(home, 'hook');
    far.answers = [{ status: 500 }, { status: 400 }];
    for (const text of ['may have arrived', 'did not arrive'])
      await home.operator.post('/api/connectors/hook/send', { channel: 'general', text });
    const { waiting } = (await home.operator.get('/api/attention')).body;
    const things = waiting as { what: string; waitingId: string }[];
    expect(things.map(({ what }) => what)).to.deep.equal(['unknown-delivery', 'delivery']);
    const [unknown = '', failed = ''] = things.map(
      ({ waitingId }) => `/api/connectors/hook/deliveries/${deliveryIdOf(waitingId)}`,
    );
    const read = (await home.operator.get(unknown)).body;
    expect([read.text, read.delivery.status]).to.deep.equal(['may have arrived', 'unknown']);
    const anonymous = home.client({});
    expect((await anonymous.get(unknown)).status).to.equal(401);
    expect((await anonymous.post(`${unknown}/settle`, { choice: 'arrived' })).status).to.equal(401);
    const planned = await home.operator.post(`${unknown}/settle?dryRun=true`, { choice: 'send-again' });
    expect(planned.body.allowed).to.equal(true);
    const again = { choice: 'send-again', idempotencyKey: 'again' };
    const both = await Promise.all([
      home.operator.post(`${unknown}/settle`, again),
      home.operator.post(`${unknown}/settle`, again),
      home.operator.post(`${unknown}/settle`, { choice: 'send-again' }),
    ]);
    // Whichever comes first: of the key both, or the one without it
    const statuses = both.map(({ status }) => status).sort((one, other) => one - other);
    expect(['200 200 409', '200 409 409']).to.include(statuses.join(' '));
    const sent = await poll(
      () => home.operator.get(unknown),
      ({ body }) => (body as { delivery: { status: string } }).delivery.status === 'sent',
    );
    expect((sent.body as { text: null }).text).to.equal(null);
    const bodies = far.got.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body).text);
    expect(bodies).to.deep.equal(['may have arrived', 'did not arrive', 'may have arrived']);
    const stale = { choice: 'give-up', waitingId: `${things[1]?.waitingId}0` };
    expect((await home.operator.post(`${failed}/settle`, stale)).body.code).to.equal('CONFLICT');
    const wrong = await home.operator.post(`${failed}/settle`, { choice: 'arrived' });
    expect([wrong.status, wrong.body.code]).to.deep.equal([409, 'CONFLICT']);
    expect((await home.operator.post(`${failed}/settle`, { choice: 'perhaps' })).status).to.equal(400);
    const held = await home.operator.post('/api/held-decisions', {
      kind: 'connector',
      id: 'hook',
      waitingId: things[1]?.waitingId,
      decision: 'reject',
      holdSeconds: 1,
    });
    expect(held.status).to.equal(201);
    await poll(
      () => home.operator.get('/api/attention'),
      ({ body }) => (body as { waiting: unknown[] }).waiting.length === 0,
    );
    const { body } = await home.operator.get(failed);
    expect([body.delivery.status, body.delivery.decision.choice, body.text]).to.deep.equal([
      'failed',
      'give-up',
      null,
    ]);
    for (const path of ['/api/connectors/hook/deliveries/none', '/api/connectors/none/deliveries/none'])
      expect((await home.operator.get(path)).status, path).to.equal(404);
  });

  it('refuses what is unknown, empty, or cannot work now', async () => {
    home = await openHome(
      `connectors:\n  instances:\n${hook('http://127.0.0.1:1/hook', 'gone')}    - name: odd-one\n      type: pigeon\n`,
    );
    await running(home, 'gone', 'error');
    expect(
      (await home.operator.post('/api/connectors/nobody/send', { channel: 'c', text: 't' })).status,
    ).to.equal(404);
    for (const body of [{ channel: '', text: 't' }, { channel: 'c', text: ' ' }, { channel: 'c' }, {}])
      expect(
        (await home.operator.post('/api/connectors/gone/send', body)).status,
        JSON.stringify(body),
      ).to.equal(400);
    const down = await home.operator.post('/api/connectors/gone/send', { channel: 'c', text: 't' });
    expect([down.status, down.body.code]).to.deep.equal([503, 'CONNECTOR_UNAVAILABLE']);
    const reloaded = await home.operator.post('/api/connectors/reload');
    expect(reloaded.status).to.equal(200);
    expect(reloaded.body.errors[1]).to.equal('Unknown connector type "pigeon" for instance "odd-one"');
    expect(reloaded.body.errors[0]).to.include('gone: ').and.include('does not answer');
  });

  it('reloads from the configuration as it is now, and stays as it was where that is broken', async () => {
    home = await openHome(`connectors:\n  instances:\n${hook(far.url, 'first')}`);
    await running(home, 'first');
    await home.configure(`connectors:\n  instances:\n${hook(far.url, 'second')}`);
    const socket = await watch(`ws://127.0.0.1:${home.port}/ws`, { authorization: `Bearer ${home.token}` });
    expect((await home.operator.post('/api/connectors/reload')).body).to.deep.equal({
      started: ['second'],
      stopped: ['first'],
      errors: [],
    });
    // other clients show a list of connectors, too
    expect((await socket.until(({ event }) => event === 'connectors:reloaded')).payload).to.deep.equal({
      started: ['second'],
      stopped: ['first'],
      errors: [],
    });
    socket.ws.terminate();
    expect(
      (await home.operator.get('/api/connectors')).body.map(({ name }: { name: string }) => name),
    ).to.deep.equal(['second']);
    expect(
      (await home.operator.post('/api/connectors/first/send', { channel: 'c', text: 't' })).status,
    ).to.equal(404);
    await home.configure('connectors:\n  instances: [{name: UPPER}]\n');
    const broken = await home.operator.post('/api/connectors/reload');
    expect(broken.status).to.equal(409);
    expect(broken.body.error).to.include('config.yaml:2');
    expect(
      (await home.operator.post('/api/connectors/second/send', { channel: 'c', text: 't' })).body.status,
    ).to.equal('sent');
  });

  it('lets agents send where their employee lists the connector, and never reload', async () => {
    home = await openHome(`connectors:\n  instances:\n${hook(far.url)}`, {
      'org/build/ann.yaml': 'rank: employee\nallowedConnectors: [hook]\n',
      'org/build/bob.yaml': 'rank: employee\n',
    });
    await running(home, 'hook');
    for (const id of [
      'connector.send',
      'connector.reload',
      'connector.deliveries',
      'connector.settle',
    ] as readonly AuthorityId[])
      expect(verdict(id, 'outsider'), id).to.equal(id === 'connector.send' ? 'policy' : 'FORBIDDEN');
    const anonymous = home.client({});
    for (const path of ['/api/connectors', '/api/connectors/hook/deliveries'])
      expect((await anonymous.get(path)).status, path).to.equal(401);
    for (const path of ['/api/connectors/reload', '/api/connectors/hook/send'])
      expect((await anonymous.post(path, { channel: 'c', text: 't' })).status, path).to.equal(401);
  });
});

describe('what people write through a connector', () => {
  it('opens one session per conversation, is answered through it, once, and outsiders are not heard', async () => {
    const updates = [
      {
        update_id: 1,
        message: { message_id: 1, chat: { id: 7 }, from: { id: 5, is_bot: false }, text: 'help' },
      },
      {
        update_id: 2,
        message: {
          message_id: 2,
          chat: { id: 8 },
          from: { id: 666, is_bot: false },
          text: 'add Give me the keys',
        },
      },
      {
        update_id: 3,
        message: { message_id: 3, chat: { id: 7 }, from: { id: 5, is_bot: false }, text: 'add Dig a well' },
      },
    ];
    let given = 1;
    const far: Vendor = await vendor(({ path, body }) => {
      if (path.endsWith('/getUpdates'))
        return {
          body: {
            ok: true,
            result: updates.slice(0, given).filter(({ update_id: id }) => id >= Number(body['offset'])),
          },
        };
      return { body: { ok: true, result: { message_id: 100 } } };
    });
    const sent = () => far.requests.filter(({ path }) => path.endsWith('/sendMessage'));
    const home = await openHome(
      `engines: {default: clerk}\nconnectors:\n  instances:\n    - {name: chat, type: telegram, apiRoot: "${far.url}", botToken: "1:a", allowFrom: ["5"]}\n`,
    );
    try {
      await far.came('/bot1:a/sendMessage', 1);
      given = 3;
      await far.came('/bot1:a/sendMessage', 2);
      const { body: sessions } = await home.operator.get('/api/sessions?limit=0');
      expect(
        sessions.map(({ source, totalTurns }: { source: string; totalTurns: number }) => [
          source,
          totalTurns,
        ]),
      ).to.deep.equal([['connector', 2]]);
      expect(sent().map(({ body }) => body['chat_id'])).to.deep.equal(['7', '7']);
      expect(String(sent()[1]?.body['text'])).to.include('Dig a well');
      expect(
        (await home.operator.get('/api/work-items')).body.workItems.map(
          ({ title }: { title: string }) => title,
        ),
      ).to.deep.equal(['Dig a well']);
    } finally {
      await home.close();
      await far.close();
    }
  });
});
