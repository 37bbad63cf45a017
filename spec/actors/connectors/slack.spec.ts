import { expect } from 'chai';
import type { InboundMessage } from '../../../actors/connectors/connector.js';
import { createSlack, slack } from '../../../actors/connectors/slack.js';
import { connectorContract } from '../../../lib/testing/connector-contract.js';
import { vendor, type Vendor } from './vendor.js';
import type { WebSocket } from 'ws';

const message = { channel: 'C1', text: 'Hello', thread: null, key: 'd-1' };
const never = new AbortController().signal;
const post = '/chat.postMessage';

describe('slack', () => {
  let far: Vendor;
  beforeEach(async () => {
    far = await vendor(({ path, authorization }, url) => {
      if (path === '/apps.connections.open')
        return { body: { ok: authorization === 'Bearer xapp-1', url: url.replace('http', 'ws') } };
      if (authorization !== 'Bearer xoxb-1') return { body: { ok: false, error: 'invalid_auth' } };
      return { body: path === post ? { ok: true, ts: '1700.5', channel: 'C1' } : { ok: true, user: 'bot' } };
    });
  });
  afterEach(() => far.close());
  const settings = (over = {}) => ({ apiRoot: `${far.url}/`, botToken: 'xoxb-1', ...over });
  const posts = () => far.requests.filter(({ path }) => path === post);

  connectorContract('slack', {
    connector: () => slack,
    settings,
    received: () => posts().map(({ body }) => String(body['text'])),
    brokenSettings: () => ({ apiRoot: far.url }),
    absentSettings: () => ({ apiRoot: 'http://127.0.0.1:1/', botToken: 'xoxb-1' }),
  });

  it('posts into the thread, calls no one, and gives the name of the message', async () => {
    const link = await slack.open(settings(), never);
    expect(await link.send({ ...message, text: '<!channel> look', thread: '1699.1' }, never)).to.deep.equal({
      outcome: 'sent',
      messageId: '1700.5',
    });
    expect(posts()[0]?.body).to.deep.include({
      channel: 'C1',
      thread_ts: '1699.1',
      text: '&lt;!channel> look',
    });
  });

  it('tells a refusal from what no one can know', async () => {
    const link = await slack.open(settings(), never);
    far.next(post, { body: { ok: false, error: 'channel_not_found' } }, { status: 500, body: {} }, 'reset', {
      status: 503,
      body: {},
    });
    expect(await link.send(message, never)).to.deep.equal({
      outcome: 'failed',
      reason: 'Slack refused the message: channel_not_found',
    });
    expect(await link.send(message, never)).to.have.property('outcome', 'unknown');
    expect(await link.send(message, never)).to.have.property('outcome', 'unknown');
    expect(await link.send(message, never)).to.have.property('outcome', 'failed');
  });

  it('waits as long as a rate limit asks, then sends once', async () => {
    const waits: number[] = [];
    const link = await createSlack({ wait: async (ms) => void waits.push(ms) }).open(settings(), never);
    far.next(post, {
      status: 429,
      headers: { 'retry-after': '7' },
      body: { ok: false, error: 'ratelimited' },
    });
    expect(await link.send(message, never)).to.have.property('outcome', 'sent');
    expect([waits, posts().length]).to.deep.equal([[7_000], 2]);
  });

  it('says which token Slack does not know', async () => {
    const link = await slack.open(settings({ botToken: 'xoxb-wrong' }), never);
    const reason = await link.probe(never).then(
      () => 'there',
      (error: Error) => error.message,
    );
    expect(reason).to.equal('Slack rejected the token (invalid_auth).').and.not.include('xoxb');
  });

  it('hears people and not bots, and acknowledges what was kept and nothing else', async () => {
    const heard: InboundMessage[] = [];
    let full = true;
    const opening = slack.open(settings({ appToken: 'xapp-1' }), never, async (one) => {
      if (full) {
        full = false;
        throw new Error('the disk is full');
      }
      heard.push(one);
    });
    const socket = await far.socket();
    const acknowledged: string[] = [];
    const two = new Promise<void>((resolve) =>
      socket.on('message', (data) => {
        acknowledged.push((JSON.parse(String(data)) as { envelope_id: string }).envelope_id);
        if (acknowledged.length === 3) resolve();
      }),
    );
    socket.send(JSON.stringify({ type: 'hello' }));
    const link = await opening;
    const say = (id: string, event: object) =>
      socket.send(
        JSON.stringify({
          envelope_id: id,
          type: 'events_api',
          accepts_response_payload: false,
          payload: { type: 'event_callback', event: { type: 'message', ...event } },
        }),
      );
    say('e1', { channel: 'C1', user: 'U1', text: 'first', ts: '1.1' });
    say('e2', { channel: 'C1', user: 'U1', text: 'first', ts: '1.1' });
    say('e3', { channel: 'C1', bot_id: 'B1', text: 'I am a bot', ts: '1.2' });
    say('e4', { channel: 'C1', user: 'U1', text: 'below', ts: '1.3', thread_ts: '1.1' });
    await two;
    expect(acknowledged).to.have.members(['e2', 'e3', 'e4']);
    expect(heard).to.deep.equal([
      { id: 'C1-1.1', channel: 'C1', thread: '1.1', from: 'U1', text: 'first' },
      { id: 'C1-1.3', channel: 'C1', thread: '1.1', from: 'U1', text: 'below' },
    ]);
    await link.close();
  });

  // Slack says again what was not acknowledged in time, and moves its connections: a press may come twice, over two.
  // Its library waits five seconds before it connects again.
  it('shows buttons, knows a press that comes again over the next connection, and takes the buttons away', async () => {
    const heard: InboundMessage[] = [];
    const opening = slack.open(settings({ appToken: 'xapp-1' }), never, async (one) =>
      heard.push(one) === 1 ? undefined : 'It was decided before.',
    );
    const first = await far.socket();
    first.send(JSON.stringify({ type: 'hello' }));
    const link = await opening;
    const choices = [
      { label: 'Allow', value: '1.abc.allow' },
      { label: 'Deny', value: '1.abc.deny' },
    ];
    expect(await link.send({ ...message, choices }, never)).to.deep.equal({
      outcome: 'sent',
      messageId: '1700.5',
    });
    const blocks = (asked: { readonly body: Readonly<Record<string, unknown>> } | undefined) =>
      JSON.parse(String(asked?.body['blocks'])) as { type: string; elements?: { value: string }[] }[];
    expect(
      blocks(posts()[0])
        .at(-1)
        ?.elements?.map(({ value }) => value),
    ).to.deep.equal(['1.abc.allow', '1.abc.deny']);
    const pressed = (socket: WebSocket, id: string): Promise<void> => {
      const payload = {
        type: 'block_actions',
        user: { id: 'U1' },
        channel: { id: 'C1' },
        message: { ts: '1700.5' },
        actions: [{ action_id: 'troupe-0', value: '1.abc.allow', action_ts: '9.1' }],
      };
      const acknowledged = new Promise<void>((resolve) =>
        socket.on('message', (data) => {
          if ((JSON.parse(String(data)) as { envelope_id?: string }).envelope_id === id) resolve();
        }),
      );
      socket.send(JSON.stringify({ envelope_id: id, type: 'interactive', payload }));
      return acknowledged;
    };
    await pressed(first, 'e1');
    first.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
    first.close();
    const second = await far.socket();
    second.send(JSON.stringify({ type: 'hello' }));
    await pressed(second, 'e2');
    const press = {
      id: 'C1-1700.5-9.1',
      channel: 'C1',
      thread: '1700.5',
      from: 'U1',
      text: '',
      choice: '1.abc.allow',
    };
    expect(heard).to.deep.equal([press, press]);
    const said = await far.asked(({ path }) => path === '/chat.postEphemeral');
    expect(said.body).to.include({ channel: 'C1', user: 'U1', text: 'It was decided before.' });
    await link.edit?.({ channel: 'C1', messageId: '1700.5', text: 'Allowed by <!channel>.' }, never);
    const edited = await far.asked(({ path }) => path === '/chat.update');
    expect([edited.body['ts'], edited.body['text'], blocks(edited)]).to.deep.equal([
      '1700.5',
      'Allowed by &lt;!channel>.',
      [],
    ]);
    await link.close();
  });
});
