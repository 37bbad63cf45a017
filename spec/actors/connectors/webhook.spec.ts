import { expect } from 'chai';
import type { ConnectorLink } from '../../../actors/connectors/connector.js';
import { createWebhook, webhook, webhookSignature } from '../../../actors/connectors/webhook.js';
import { connectorContract } from '../../../lib/testing/connector-contract.js';
import { farSide, type FarSide } from './far-side.js';

const secret = 'a secret of the specs';
const message = { channel: 'general', text: 'Hello', thread: null, key: 'd-1' };
const never = new AbortController().signal;

describe('webhook', () => {
  let far: FarSide;
  beforeEach(async () => {
    far = await farSide();
  });
  afterEach(() => far.close());
  const posts = () => far.got.filter(({ method }) => method === 'POST');
  const link = (settings: Record<string, number> = {}): Promise<ConnectorLink> =>
    webhook.open({ url: far.url, secret, ...settings }, never);

  connectorContract('webhook', {
    connector: () => webhook,
    settings: () => ({ url: far.url, secret }),
    received: () => posts().map(({ body }) => (JSON.parse(body) as { text: string }).text),
    brokenSettings: () => ({ url: far.url, secret: 'too short pass' }),
    absentSettings: () => ({ url: 'http://127.0.0.1:1/hook', secret }),
  });

  it('signs time and body, and names the message for deduplication', async () => {
    expect(await (await link()).send({ ...message, thread: 't1' }, never)).to.deep.equal({ outcome: 'sent' });
    const [post] = posts();
    expect(JSON.parse(post?.body ?? '')).to.deep.equal({
      id: 'd-1',
      channel: 'general',
      text: 'Hello',
      thread: 't1',
    });
    const timestamp = String(post?.headers['x-svc-timestamp']);
    expect(timestamp).to.match(/^\d{10}$/);
    expect(post?.headers).to.include({
      'x-svc-signature': webhookSignature(secret, timestamp, post?.body ?? ''),
      'idempotency-key': 'd-1',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(JSON.stringify(post)).to.not.include(secret);
  });

  it('makes a signature that anybody can recompute', () => {
    // openssl: printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
    expect(webhookSignature('secret', '1700000000', '{"a":1}')).to.equal(
      'sha256=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686',
    );
  });

  for (const [what, answer, outcome] of [
    ['204', { status: 204 }, { outcome: 'sent' }],
    ['201 with an id', { status: 201, body: '{"id":"m-7"}' }, { outcome: 'sent', messageId: 'm-7' }],
    ['200 with nonsense', { status: 200, body: '<html>' }, { outcome: 'sent' }],
    [
      '200 with an endless body',
      { status: 200, body: `{"id":"${'x'.repeat(200_000)}"}` },
      { outcome: 'sent' },
    ],
    ['400', { status: 400, body: 'no' }, { outcome: 'failed', reason: 'The service answered 400.' }],
    [
      'a redirect',
      { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      { outcome: 'failed', reason: 'The service answered 302.' },
    ],
    [
      '500',
      { status: 500 },
      { outcome: 'unknown', reason: 'The service answered 500; it may have the message.' },
    ],
    ['503', { status: 503 }, { outcome: 'failed', reason: 'The service answered 503.' }],
  ] as const) {
    it(`takes ${what} for ${outcome.outcome}`, async () => {
      far.answers = [answer];
      expect(await (await link()).send(message, never)).to.deep.equal(outcome);
      expect(posts()).to.have.lengthOf(1);
    });
  }

  it('does not know the fate of a message whose connection was cut', async () => {
    far.answers = ['reset'];
    expect(await (await link()).send(message, never)).to.have.property('outcome', 'unknown');
  });

  it('does not know the fate of a message that was not answered in time', async () => {
    far.answers = ['hang'];
    const result = await (await link({ timeoutSeconds: 0.2 })).send(message, never);
    expect(result)
      .to.deep.include({ outcome: 'unknown' })
      .and.have.property('reason')
      .that.includes('timeout');
  });

  it('knows that a message to no one was not sent', async () => {
    await far.close();
    expect(await (await link()).send(message, never)).to.have.property('outcome', 'failed');
  });

  describe('at a rate limit', () => {
    const waits: number[] = [];
    const patient = createWebhook({
      wait: (ms) => {
        waits.push(ms);
        return Promise.resolve();
      },
    });
    beforeEach(() => {
      waits.length = 0;
    });

    it('waits as long as it is told and tries again with the same key', async () => {
      far.answers = [{ status: 429, headers: { 'retry-after': '7' } }, { status: 200 }];
      expect(
        await (await patient.open({ url: far.url, secret }, never)).send(message, never),
      ).to.have.property('outcome', 'sent');
      expect(waits).to.deep.equal([7_000]);
      expect(posts().map(({ headers }) => headers['idempotency-key'])).to.deep.equal(['d-1', 'd-1']);
    });

    it('understands a date', async () => {
      far.answers = [
        { status: 429, headers: { 'retry-after': new Date(Date.now() + 30_000).toUTCString() } },
      ];
      await (await patient.open({ url: far.url, secret }, never)).send(message, never);
      expect(waits[0]).to.be.within(20_000, 30_000);
    });

    it('gives up after three attempts, and at once when it would wait too long', async () => {
      far.answers = [1, 2, 3].map(() => ({ status: 429, headers: { 'retry-after': '1' } }));
      expect(
        await (await patient.open({ url: far.url, secret }, never)).send(message, never),
      ).to.have.property('outcome', 'failed');
      expect(posts()).to.have.lengthOf(3);
      far.answers = [{ status: 429, headers: { 'retry-after': '3600' } }];
      expect(await (await patient.open({ url: far.url, secret }, never)).send(message, never)).to.deep.equal({
        outcome: 'failed',
        reason: 'The service is rate limited; it asks to wait 3600 s.',
      });
      expect(posts()).to.have.lengthOf(4);
    });
  });

  for (const [what, settings, words] of [
    ['no address', { secret }, 'http://'],
    ['another scheme', { url: 'file:///etc/passwd', secret }, 'http://'],
    ['a password in the address', { url: 'https://me:word@example.org/', secret }, 'use the secret'],
    ['no secret', { url: 'https://example.org/' }, 'needs "secret"'],
    ['a short secret', { url: 'https://example.org/', secret: 'short' }, '16 characters'],
    [
      'a timeout that is none',
      { url: 'https://example.org/', secret, timeoutSeconds: 'long' },
      'timeoutSeconds',
    ],
  ] as const) {
    it(`does not open with ${what}`, async () => {
      const reason = await webhook.open(settings, never).then(
        () => 'opened',
        (error: Error) => error.message,
      );
      expect(reason).to.include(words);
    });
  }
});
