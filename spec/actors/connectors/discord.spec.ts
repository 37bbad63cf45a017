import { expect } from 'chai';
import type { InboundMessage } from '../../../actors/connectors/connector.js';
import { createDiscord, discord } from '../../../actors/connectors/discord.js';
import { connectorContract } from '../../../lib/testing/connector-contract.js';
import { vendor, type Vendor } from './vendor.js';

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
});
