import { expect } from 'chai';
import type { InboundMessage } from '../../../actors/connectors/connector.js';
import { createDiscord, discord } from '../../../actors/connectors/discord.js';
import { connectorContract } from '../../../lib/testing/connector-contract.js';
import { vendor, type Vendor } from './vendor.js';
import type { WebSocket } from 'ws';

const message = { channel: '42', text: 'Hello', thread: null, key: 'd-1' };
const never = new AbortController().signal;
const post = '/v10/channels/42/messages';

describe('discord', () => {
  let far: Vendor;
  beforeEach(async () => {
    let n = 900;
    far = await vendor(({ path, authorization }, url) => {
      if (authorization !== 'Bot good-token')
        return { status: 401, body: { message: '401: Unauthorized', code: 0 } };
      if (path === '/v10/gateway/bot')
        return {
          body: {
            url: url.replace('http', 'ws'),
            shards: 1,
            session_start_limit: { total: 1_000, remaining: 999, reset_after: 0, max_concurrency: 1 },
          },
        };
      return { body: { id: String((n += 1)) } };
    });
  });
  afterEach(() => far.close());
  const settings = (over = {}) => ({ apiRoot: far.url, botToken: 'good-token', ...over });
  const posts = () => far.requests.filter(({ path }) => path === post);

  connectorContract('discord', {
    connector: () => discord,
    channel: '42',
    settings,
    received: () => posts().map(({ body }) => String(body['content'])),
    brokenSettings: () => ({ apiRoot: far.url }),
    absentSettings: () => ({ apiRoot: 'http://127.0.0.1:1', botToken: 'good-token' }),
  });

  it('answers a message, pings no one, and lets Discord drop a copy', async () => {
    const link = await discord.open(settings(), never);
    expect(await link.send({ ...message, text: '@everyone look', thread: '41' }, never)).to.deep.equal({
      outcome: 'sent',
      messageId: '901',
    });
    const body = posts()[0]?.body ?? {};
    expect(body).to.deep.include({
      content: '@everyone look',
      allowed_mentions: { parse: [] },
      message_reference: { message_id: '41', fail_if_not_exists: false },
      enforce_nonce: true,
    });
    expect(body['nonce']).to.be.a('string').with.lengthOf(25);
    await link.close();
  });

  it('tells a refusal from what no one can know', async () => {
    const link = await discord.open(settings(), never);
    far.next(
      post,
      { status: 404, body: { message: 'Unknown Channel', code: 10003 } },
      { status: 500, body: {} },
      'reset',
      { status: 503, body: {} },
    );
    expect(await link.send(message, never)).to.deep.equal({
      outcome: 'failed',
      reason: 'Discord refused the message: Unknown Channel',
    });
    expect(await link.send(message, never)).to.have.property('outcome', 'unknown');
    expect(await link.send(message, never)).to.have.property('outcome', 'unknown');
    expect(await link.send(message, never)).to.have.property('outcome', 'failed');
    await link.close();
  });

  it('waits as long as a rate limit asks, then sends once', async () => {
    const waits: number[] = [];
    const link = await createDiscord({ wait: async (ms) => void waits.push(ms) }).open(settings(), never);
    far.next(post, {
      status: 429,
      headers: { 'retry-after': '2', 'x-ratelimit-scope': 'user' },
      body: { message: 'You are being rate limited.', retry_after: 2, global: false },
    });
    expect(await link.send(message, never)).to.have.property('outcome', 'sent');
    expect(posts()).to.have.lengthOf(2);
    expect(waits[0]).to.be.at.least(2_000);
    await link.close();
  });

  it('takes numbers only, so that no channel leads to another address', async () => {
    const link = await discord.open(settings(), never);
    for (const channel of ['../users/@me', 'general', ''])
      expect(await link.send({ ...message, channel }, never), channel).to.have.property('outcome', 'failed');
    expect(far.requests).to.have.lengthOf(0);
    await link.close();
  });

  it('hears people and not bots', async () => {
    const heard: InboundMessage[] = [];
    let two: () => void = () => undefined;
    const both = new Promise<void>((resolve) => {
      two = resolve;
    });
    const opening = discord.open(settings(), never, async (one) => {
      if (heard.push(one) === 2) two();
    });
    const socket = await far.socket();
    const identified = new Promise<void>((resolve) =>
      socket.on('message', (data) => {
        if ((JSON.parse(String(data)) as { op: number }).op === 2) resolve();
      }),
    );
    socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: 45_000 } }));
    await identified;
    socket.send(
      JSON.stringify({
        op: 0,
        t: 'READY',
        s: 1,
        d: {
          v: 10,
          session_id: 's',
          resume_gateway_url: far.url.replace('http', 'ws'),
          user: { id: '1' },
          guilds: [],
          application: { id: '1' },
        },
      }),
    );
    const link = await opening;
    const say = (s: number, over: object) =>
      socket.send(
        JSON.stringify({
          op: 0,
          t: 'MESSAGE_CREATE',
          s,
          d: { id: `m${s}`, channel_id: '42', author: { id: '5' }, content: `text ${s}`, ...over },
        }),
      );
    say(2, {});
    say(3, { author: { id: '6', bot: true } });
    say(4, {});
    await both;
    expect(heard).to.deep.equal(
      [2, 4].map((s) => ({ id: `m${s}`, channel: '42', thread: null, from: '5', text: `text ${s}` })),
    );
    await link.close();
  });

  // A connection that breaks is resumed, and what was dispatched meanwhile is dispatched again
  it('shows buttons, knows a press that comes again after a reconnect, and takes the buttons away', async () => {
    const heard: InboundMessage[] = [];
    const opening = discord.open(settings(), never, async (one) =>
      heard.push(one) === 1 ? undefined : 'It was decided before.',
    );
    const ops = (socket: WebSocket, op: number): Promise<void> =>
      new Promise((resolve) =>
        socket.on('message', (data) => {
          if ((JSON.parse(String(data)) as { op: number }).op === op) resolve();
        }),
      );
    const say = (socket: WebSocket, frame: object): void => socket.send(JSON.stringify(frame));
    const first = await far.socket();
    const identified = ops(first, 2);
    say(first, { op: 10, d: { heartbeat_interval: 45_000 } });
    await identified;
    const resumeAt = far.url.replace('http', 'ws');
    const [user, application] = [{ id: '1' }, { id: '1' }];
    const ready = { v: 10, session_id: 's', resume_gateway_url: resumeAt, user, guilds: [], application };
    say(first, { op: 0, t: 'READY', s: 1, d: ready });
    const link = await opening;
    const choices = [{ label: 'Allow', value: '1.abc.allow' }];
    await link.send({ ...message, choices }, never);
    expect(posts()[0]?.body['components']).to.deep.equal([
      { type: 1, components: [{ type: 2, style: 2, label: 'Allow', custom_id: '1.abc.allow' }] },
    ]);
    const pressed = (token: string): object => ({
      op: 0,
      t: 'INTERACTION_CREATE',
      s: 2,
      d: {
        id: 'i1',
        token,
        type: 3,
        channel: { id: '42' },
        member: { user: { id: '5' } },
        data: { custom_id: '1.abc.allow', component_type: 2 },
        message: { id: '901' },
      },
    });
    const answer = (token: string) =>
      far.asked(({ path }) => path === `/v10/interactions/i1/${token}/callback`);
    say(first, pressed('one'));
    expect((await answer('one')).body).to.deep.equal({ type: 6 });
    first.close(4_000);
    const second = await far.socket();
    const resumed = ops(second, 6);
    say(second, { op: 10, d: { heartbeat_interval: 45_000 } });
    await resumed;
    say(second, { op: 0, t: 'RESUMED', s: 3, d: {} });
    say(second, pressed('two'));
    expect((await answer('two')).body).to.deep.equal({
      type: 4,
      data: { content: 'It was decided before.', flags: 64 },
    });
    const press = {
      id: 'press-i1',
      channel: '42',
      thread: '901',
      from: '5',
      text: '',
      choice: '1.abc.allow',
    };
    expect(heard).to.deep.equal([press, press]);
    await link.edit?.({ channel: '42', messageId: '901', text: 'Allowed by @everyone.' }, never);
    const edited = await far.asked(({ method }) => method === 'PATCH');
    expect(edited.path).to.equal('/v10/channels/42/messages/901');
    expect(edited.body).to.deep.include({ components: [], allowed_mentions: { parse: [] } });
    await link.close();
  });
});
