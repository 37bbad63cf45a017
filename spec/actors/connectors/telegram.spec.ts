import { expect } from 'chai';
import type { InboundMessage } from '../../../actors/connectors/connector.js';
import { createTelegram, telegram } from '../../../actors/connectors/telegram.js';
import { connectorContract } from '../../../lib/testing/connector-contract.js';
import { vendor, type Vendor } from './vendor.js';

const message = { channel: '-100', text: 'Hello', thread: null, key: 'd-1' };
const never = new AbortController().signal;
const post = '/bot1:a/sendMessage';

describe('telegram', () => {
  let far: Vendor;
  beforeEach(async () => {
    let n = 0;
    far = await vendor(({ path }) => {
      if (path === post) return { body: { ok: true, result: { message_id: (n += 1) } } };
      if (path === '/bot1:a/getMe') return { body: { ok: true, result: { id: 1, is_bot: true } } };
      return { status: 401, body: { ok: false, error_code: 401, description: 'Unauthorized' } };
    });
  });
  afterEach(() => far.close());
  const settings = (over = {}) => ({ apiRoot: far.url, botToken: '1:a', ...over });
  const posts = () => far.requests.filter(({ path }) => path === post);

  connectorContract('telegram', {
    connector: () => telegram,
    settings,
    received: () => posts().map(({ body }) => String(body['text'])),
    brokenSettings: () => ({ apiRoot: far.url }),
    absentSettings: () => ({ apiRoot: 'http://127.0.0.1:1', botToken: '1:a' }),
  });

  it('answers a message, in pieces where the text is long, cut at blanks', async () => {
    const link = await telegram.open(settings(), never);
    const text = `${'word '.repeat(1_000)}end`;
    expect(await link.send({ ...message, text, thread: '41' }, never)).to.deep.equal({
      outcome: 'sent',
      messageId: '1',
    });
    expect(posts().map(({ body }) => String(body['text']).length <= 4_096)).to.deep.equal([true, true]);
    expect(
      posts()
        .map(({ body }) => body['text'])
        .join(' '),
    ).to.equal(text);
    expect(posts()[0]?.body).to.deep.include({
      chat_id: '-100',
      reply_parameters: { message_id: 41, allow_sending_without_reply: true },
    });
  });

  it('calls a message of which only a part arrived unknown', async () => {
    const link = await telegram.open(settings(), never);
    far.next(
      post,
      { body: { ok: true, result: { message_id: 7 } } },
      { status: 400, body: { ok: false, error_code: 400, description: 'Bad Request: chat not found' } },
    );
    const result = await link.send({ ...message, text: 'x'.repeat(5_000) }, never);
    expect(result).to.deep.equal({
      outcome: 'unknown',
      reason: 'Only its first 1 part(s) arrived: Telegram refused the message: Bad Request: chat not found',
    });
  });

  it('tells a refusal from what no one can know, and waits for its rate limit', async () => {
    const waits: number[] = [];
    const link = await createTelegram({ wait: async (ms) => void waits.push(ms) }).open(settings(), never);
    far.next(
      post,
      { status: 403, body: { ok: false, error_code: 403, description: 'Forbidden: bot was blocked' } },
      { status: 502, body: { ok: false, error_code: 502, description: 'Bad Gateway' } },
      'reset',
      {
        status: 429,
        body: {
          ok: false,
          error_code: 429,
          description: 'Too Many Requests',
          parameters: { retry_after: 3 },
        },
      },
    );
    expect(await link.send(message, never)).to.have.property('outcome', 'failed');
    expect(await link.send(message, never)).to.have.property('outcome', 'unknown');
    expect(await link.send(message, never)).to.have.property('outcome', 'unknown');
    expect(await link.send(message, never)).to.have.property('outcome', 'sent');
    expect(waits).to.deep.equal([3_000]);
  });

  it('never shows the token, which stands in every address', async () => {
    const broken = await telegram.open(
      settings({ botToken: '2:secret-token', apiRoot: 'http://127.0.0.1:1' }),
      never,
    );
    const reason = await broken.probe(never).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(reason).to.include('Telegram').and.not.include('secret-token');
    expect(JSON.stringify(await broken.send(message, never))).not.to.include('secret-token');
  });

  it('fetches what people write, and asks for the next only after it was kept', async () => {
    const update = (id: number, over: object) => ({
      update_id: id,
      message: {
        message_id: id,
        chat: { id: -100 },
        from: { id: 5, is_bot: false },
        text: `text ${id}`,
        ...over,
      },
    });
    const all = [update(10, {}), update(11, { from: { id: 6, is_bot: true } }), update(12, {})];
    const offsets: number[] = [];
    let kept: (value: readonly InboundMessage[]) => void = () => undefined;
    const done = new Promise<readonly InboundMessage[]>((resolve) => {
      kept = resolve;
    });
    const server = await vendor(async ({ path, body }) => {
      if (!path.endsWith('/getUpdates')) return { body: { ok: true, result: {} } };
      const offset = Number(body['offset']);
      offsets.push(offset);
      if (offset === 13) kept(heard);
      return { body: { ok: true, result: all.filter(({ update_id: id }) => id >= offset).slice(0, 2) } };
    });
    const heard: InboundMessage[] = [];
    let fails = 1;
    const link = await telegram.open({ apiRoot: server.url, botToken: '1:a' }, never, async (one) => {
      if (one.id === '12' && fails-- > 0) throw new Error('the disk is full');
      heard.push(one);
    });
    expect((await done).map(({ id, channel, from, text }) => [id, channel, from, text])).to.deep.equal([
      ['10', '-100', '5', 'text 10'],
      ['12', '-100', '5', 'text 12'],
    ]);
    expect(offsets.slice(0, 4)).to.deep.equal([0, 12, 12, 13]);
    await link.close();
    await server.close();
  });
});
