import { expect } from 'chai';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { a2aEngine } from '../../../../actors/engines/a2a/engine.js';
import type { A2aOptions } from '../../../../actors/engines/a2a/agent.js';
import type { TurnIO } from '../../../../actors/engines/engine.js';
import { engineContract } from '../../../../lib/testing/engine-contract.js';
import { startA2aAgent, type A2aAgent, type A2aAgentOptions } from '../../../helpers/a2a-agent.js';
import { playTurn, type PlayedTurn, type TurnWish } from '../../../helpers/turn-bench.js';

/** Against agents on the server of the protocol's own SDK, over real connections. */
describe('the a2a engine', () => {
  let agent: A2aAgent;
  const others: { close(): Promise<void> }[] = [];
  before(async () => {
    agent = await startA2aAgent();
  });
  afterEach(() => Promise.all(others.splice(0).map((other) => other.close())));
  after(() => agent.close());
  const engine = (options: Partial<A2aOptions> = {}) =>
    a2aEngine({ name: 'movers', url: agent.url, retryMs: 5, ...options });
  const turn = (wish: TurnWish | string, options: Partial<A2aOptions> = {}): Promise<PlayedTurn> =>
    playTurn(engine(options), tmpdir(), {}, typeof wish === 'string' ? { prompt: wish } : wish);
  async function another(options: A2aAgentOptions): Promise<A2aAgent> {
    const other = await startA2aAgent(options);
    others.push(other);
    return other;
  }
  /** Its gateway and its worker are killed: the session knows the name that was reported, and nothing of the end. */
  async function cutOff(prompt: string): Promise<string> {
    let nativeId = '';
    const forgotten = new Promise<void>((resolve) => {
      const io: TurnIO = {
        signal: new AbortController().signal,
        spawn: () => Promise.reject(new Error('it starts no program')),
        permission: () => Promise.resolve({ allow: false, message: '' }),
        report(report) {
          if (report.type === 'conversation.named') nativeId ||= report.nativeId;
          if (report.type === 'text') resolve();
        },
      };
      const request = { sessionId: 's', turnId: 's:1', prompt, transcript: [], nativeId: null };
      const limits = {
        model: null,
        effort: null,
        cwd: tmpdir(),
        env: {},
        deadlineMs: 60_000,
        silenceMs: 60_000,
      };
      void engine().turn({ ...request, ...limits }, io);
    });
    await forgotten;
    return nativeId;
  }
  const said = ({ reports }: PlayedTurn): string =>
    reports.map((report) => (report.type === 'text' ? report.text : '')).join('');
  const notices = ({ reports }: PlayedTurn): readonly string[] =>
    reports.flatMap((report) => (report.type === 'notice' ? [report.text] : []));

  engineContract('it', { engine: () => engine(), prompt: 'say hello', slowPrompt: 'slowly' });

  for (const [name, options] of [
    ['JSON-RPC', {}],
    ['HTTP+JSON', { binding: 'HTTP+JSON' }],
    ['JSON-RPC of protocol 0.3', { protocolVersion: '0.3' }],
    ['an agent that cannot stream', { streaming: false }],
  ] as const)
    it(`streams what it says and goes on with the conversation: ${name}`, async () => {
      const other = await another(options);
      const first = await turn('say one two three', { url: other.url });
      expect(first, first.error).to.include({ outcome: 'succeeded', text: 'one two three' });
      expect(said(first)).to.equal('one two three');
      const second = await turn({ prompt: 'say more', nativeId: first.nativeId }, { url: other.url });
      expect(second.text).to.equal('more');
      const [asked, again] = other.told;
      expect(again?.contextId).to.equal(asked?.contextId).and.not.equal('');
      expect(asked?.text).to.equal('say one two three');
    });

  it('tells a new agent what was said before, once', async () => {
    const transcript = [{ role: 'user', content: 'I like plums' }] as const;
    const first = await turn({ prompt: 'say ok', transcript });
    expect(agent.told.at(-1)?.text).to.include('I like plums');
    await turn({ prompt: 'say ok', transcript, nativeId: first.nativeId });
    expect(agent.told.at(-1)?.text).to.equal('say ok');
  });

  it('takes a message without a task for an answer', async () => {
    expect(await turn('message good day')).to.include({ outcome: 'succeeded', text: 'good day' });
  });

  it('brings a question as its answer, and the next message to the task that asked', async () => {
    const asked = await turn('ask');
    expect(asked).to.include({ outcome: 'succeeded', text: 'Which colour?' });
    await turn({ prompt: 'say red', nativeId: asked.nativeId });
    const [question, answer] = agent.told.slice(-2);
    expect([answer?.contextId, answer?.message.taskId]).to.deep.equal([
      question?.contextId,
      question?.taskId,
    ]);
    const { nativeId } = await turn('say done');
    await turn({ prompt: 'say new', nativeId });
    const [ended, begun] = agent.told.slice(-2);
    expect(begun?.contextId).to.equal(ended?.contextId);
    expect(begun?.taskId).to.not.equal(ended?.taskId);
  });

  for (const [prompt, error] of [
    ['fail', 'movers says that its task failed. It said: The van broke down.'],
    ['refuse', 'movers does not take this on. It said: Not on Sundays.'],
    ['login', 'movers wants a login of its own before it goes on. It said: Who are you?'],
  ] as const)
    it(`says how a task ended that did not succeed: ${prompt}`, async () => {
      expect(await turn(prompt)).to.include({ outcome: 'failed', error });
    });

  for (const streaming of [true, false])
    it(`follows its task over broken connections and says nothing twice${streaming ? '' : ', by asking'}`, async () => {
      const other = await another({ streaming });
      const played = await turn(
        {
          prompt: 'slowly',
          onText() {
            other.cut();
            setTimeout(() => {
              other.cut();
              other.letGo();
            }, 50);
          },
        },
        { url: other.url },
      );
      expect(played, played.error).to.include({ outcome: 'succeeded', text: 'half done' });
      expect(said(played)).to.equal('half done');
      expect(notices(played)).to.deep.equal(['I am on my way.']);
      expect(other.told).to.have.length(1);
    });

  // Given up it would be told the same once more, and do it twice
  it('stays with a task of an agent that is asked too often', async () => {
    const other = await another({ streaming: false });
    const played = await turn(
      {
        prompt: 'slowly',
        onText() {
          other.refuse(3);
          other.letGo();
        },
      },
      { url: other.url },
    );
    expect(played, played.error).to.include({ outcome: 'succeeded', text: 'half done' });
    expect(other.told).to.have.length(1);
  });

  it('names a conversation when it begins and when its task has ended, not with each piece of an answer', async () => {
    const { reports } = await turn(`say ${'word '.repeat(50)}`);
    expect(reports.filter(({ type }) => type === 'conversation.named')).to.have.length(2);
  });

  it('ends a task that never stops talking', async () => {
    const before = agent.cancelled.length;
    const played = await turn('flood');
    expect(played.outcome).to.equal('failed');
    expect(played.error).to.include('It says more than 1048576 characters.');
    expect(agent.cancelled).to.have.length(before + 1);
  });

  it('cancels the task where the turn is interrupted, or late', async () => {
    const before = agent.cancelled.length;
    expect(await turn({ prompt: 'slowly', onText: (running) => running.abort() })).to.include({
      outcome: 'interrupted',
      text: 'half ',
    });
    expect(agent.cancelled).to.have.length(before + 1);
    const late = await turn({ prompt: 'slowly', deadlineMs: 1_500 });
    expect(late).to.include({
      outcome: 'failed',
      error: 'movers did not finish within its time and was ended.',
    });
    expect(agent.cancelled).to.have.length(before + 2);
  });

  it('finds the task of a turn that was cut off by its id, and brings its answer first', async () => {
    const nativeId = await cutOff('slowly');
    const before = agent.told.length;
    const next = turn({ prompt: 'say and more', nativeId, onText: () => agent.letGo() });
    expect((await next).text).to.equal('half done\n\nand more');
    expect(said(await next)).to.equal('half done\n\nand more');
    expect(agent.told.slice(before).map(({ text }) => text)).to.deep.equal(['say and more']);
    expect(agent.told.at(-1)?.contextId).to.equal(agent.told.at(-2)?.contextId);
    const { text } = await turn({ prompt: 'say again', nativeId: `${nativeId}gone` });
    expect(text).to.equal('again');
  });

  // They were sent again, and the agent did the same twice
  it('sends no words again where the turn that was cut off is resumed and its task is found', async () => {
    const nativeId = await cutOff('slowly');
    const before = agent.told.length;
    const again = { prompt: 'slowly', nativeId, isResumed: true };
    expect(await turn({ ...again, onText: () => agent.letGo() })).to.include({ text: 'half done' });
    expect(await turn({ ...again, prompt: 'say again' }), 'it has ended').to.include({ text: 'half done' });
    expect(agent.told).to.have.length(before);
    expect(await turn({ ...again, prompt: 'say it', nativeId: null })).to.include({ text: 'it' });
    // It may not have got the answer that it waits for
    const asking = (await turn({ prompt: 'ask' })).nativeId;
    await turn({ ...again, prompt: 'say blue', nativeId: asking });
    expect(agent.told.at(-1)).to.include({ text: 'say blue' });
  });

  // They were taken for the words that had begun the task, and were never sent
  it('sends words that waited for the end of a task, also where their turn was cut off and is resumed', async () => {
    const before = await cutOff('slowly');
    const waiting = await turn({ prompt: 'say more', nativeId: before, deadlineMs: 1_500 });
    expect(waiting.outcome).to.equal('failed');
    const resumed = { prompt: 'say more', nativeId: waiting.nativeId, isResumed: true };
    expect((await turn(resumed)).text).to.include('more');
    expect(agent.told.at(-1)).to.include({ text: 'say more' });
  });

  it('shows pictures to an agent whose card takes them, and says where they were left out', async () => {
    const images = [{ name: 'a.png', mimeType: 'image/png', data: 'AAAA' }] as const;
    const seeing = await another({ inputModes: ['text/plain', 'image/png'] });
    await turn({ prompt: 'say seen', images }, { url: seeing.url });
    expect(
      seeing.told[0]?.message.parts.map(({ filename, mediaType }) => [filename, mediaType]),
    ).to.deep.equal([
      ['', 'text/plain'],
      ['a.png', 'image/png'],
    ]);
    expect(notices(await turn({ prompt: 'say blind', images }))).to.deep.equal([
      'This agent takes no pictures, as its card says; they were left out.',
    ]);
  });

  describe('and strangers', () => {
    const secret = 'sk-a2a-0123456789abcdef';
    before(() => {
      process.env['A2A_SPEC_KEY'] = secret;
    });
    after(() => {
      delete process.env['A2A_SPEC_KEY'];
    });
    const keyed = (url: string): Partial<A2aOptions> => ({ url, apiKeyEnv: 'A2A_SPEC_KEY' });

    it('sends the key that its settings name, and says what to do where it is not taken', async () => {
      const locked = await another({ key: secret });
      expect(await turn('say hello', keyed(locked.url))).to.include({ text: 'hello' });
      const refused = await turn('say hello', { url: locked.url });
      expect(refused).to.include({
        outcome: 'failed',
        error:
          'Authentication with movers failed. Name the variable with its key as engines.a2a.movers.apiKeyEnv.',
      });
      const other = await another({ key: 'another' });
      const wrong = await turn('say hello', keyed(other.url));
      expect(wrong.error).to.equal('Authentication with movers failed. Check the key in A2A_SPEC_KEY.');
      const own = await turn('say hello', { ...keyed(agent.url), apiKeyHeader: 'X-Api-Key' });
      expect(own.text).to.equal('hello');
      expect(agent.headers.at(-1)).to.include({ 'x-api-key': secret }).and.not.have.property('authorization');
    });

    it('calls nothing but the host of its settings, wherever a card or a redirect leads', async () => {
      const elsewhere = await another({});
      const leading = await another({ leadsTo: elsewhere.url });
      const led = await turn('say hello', keyed(leading.url));
      expect(led).to.include({ outcome: 'failed' });
      expect(led.error).to.include(`Its card leads to ${elsewhere.url}`).and.not.include(secret);
      const redirecting = await serving((_, response) => {
        response.writeHead(307, { location: `${elsewhere.url}/.well-known/agent-card.json` }).end();
      });
      expect(await turn('say hello', keyed(redirecting))).to.include({ outcome: 'failed' });
      expect(elsewhere.paths).to.deep.equal([]);
    });

    it('survives cards that are none, and answers without end', async () => {
      for (const body of ['', '[]', 'null', '{"supportedInterfaces":7}', '{"url":"http://[::"}', '<html>']) {
        const url = await serving((_, response) => void response.end(body));
        expect(await turn('say hello', { url }), body).to.include({ outcome: 'failed' });
      }
      const url = await serving((_, response) => {
        const more = (): void => void (response.write('x'.repeat(65_536)) ? setImmediate(more) : 0);
        response.on('drain', more);
        more();
      });
      expect((await turn('say hello', { url })).error).to.match(/^movers at .* could not be followed: /);
    });

    it('is not there without its key', async () => {
      delete process.env['A2A_SPEC_KEY'];
      const { available, reason } = await engine(keyed(agent.url)).discover();
      expect({ available, reason }).to.deep.equal({
        available: false,
        reason: 'The variable A2A_SPEC_KEY, which should hold its key, is not set.',
      });
      process.env['A2A_SPEC_KEY'] = secret;
      expect(await engine(keyed(agent.url)).discover()).to.include({ available: true });
    });

    // The SDK printed them on the gateway's stderr, with all the control characters that they had
    it('prints nothing of events that cannot be read', async () => {
      const url: string = await serving((request, response) => {
        if (request.url?.startsWith('/.well-known/') === true)
          return void response.setHeader('content-type', 'application/json').end(
            JSON.stringify({
              name: 'Stranger',
              description: '',
              version: '1',
              capabilities: { streaming: true },
              defaultInputModes: ['text/plain'],
              defaultOutputModes: ['text/plain'],
              skills: [],
              supportedInterfaces: [
                { url: `${url}/a2a`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
              ],
            }),
          );
        return void response.setHeader('content-type', 'text/event-stream').end('data: \u001b[31mowned\n\n');
      });
      const printed: string[] = [];
      const { write } = process.stderr;
      process.stderr.write = (text: string | Uint8Array) => printed.push(String(text)) > 0;
      try {
        expect((await turn('say hello', { url })).outcome).to.equal('failed');
      } finally {
        process.stderr.write = write;
      }
      expect(printed.filter((text) => text.includes('owned'))).to.deep.equal([]);
    });

    async function serving(listener: RequestListener): Promise<string> {
      const server = createServer(listener);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      others.push({
        close: () =>
          new Promise((resolve) => {
            server.closeAllConnections();
            server.close(() => resolve());
          }),
      });
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }
  });
});
