import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { defineEngine, type TurnRequest } from '../../../actors/engines/engine.js';
import { startInstance, type Instance } from '../../../lib/instance.js';
import { openTelemetry } from '../../../lib/telemetry/telemetry.js';
import { makeClient, type Client } from '../gateway/fixture.js';
import { openReceiver, type SentSpan } from './otlp-receiver.js';

/** A gateway, a real receiver of OTLP, and an agent that does what its prompt says. */
describe('telemetry', () => {
  const asked = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const askedTrace = asked.split('-')[1];
  let home: string;
  let receiver: Awaited<ReturnType<typeof openReceiver>>;
  let instance: Instance;
  let operator: Client;
  const turns: TurnRequest[] = [];
  const began = new EventEmitter();

  const agent = defineEngine({
    name: 'agent',
    effortMechanism: 'none',
    discover: () => Promise.resolve({ available: true, defaultModel: null, models: [] }),
    async turn(request, io) {
      turns.push(request);
      began.emit('turn');
      const { prompt, mcp } = request;
      io.report({ type: 'tool.started', tool: 'Bash', toolId: 't1', input: '{"command":"cat velvet"}' });
      io.report({ type: 'tool.finished', toolId: 't1', output: 'crimson', isError: false });
      const [, wanted, traceparent = ''] = /^open (\w+) ?(\S*)$/.exec(prompt) ?? [];
      if (wanted !== undefined)
        await fetch(mcp?.url ?? '', {
          method: 'POST',
          headers: {
            authorization: `Bearer ${mcp?.token}`,
            'content-type': 'application/json',
            ...(traceparent !== '' && { traceparent }),
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name: 'spawn_session', arguments: { prompt: wanted, engine: 'agent' } },
          }),
        });
      if (prompt === 'steps')
        for (let n = 0; n < 210; n += 1) io.report({ type: 'conversation.named', nativeId: `c${n}` });
      if (prompt === 'hold') await once(began, 'release');
      if (prompt === 'wait' && !io.signal.aborted)
        await new Promise((resolve) => io.signal.addEventListener('abort', resolve));
      return { outcome: 'succeeded', text: `velvet ${prompt}`, usage: { inputTokens: 3, outputTokens: 4 } };
    },
  });

  async function start(content: boolean): Promise<void> {
    await writeFile(
      join(home, 'config.yaml'),
      JSON.stringify({
        sessions: { interruptOnNewMessage: false },
        telemetry: { to: receiver.url, content, metricsEverySeconds: 1 },
      }),
    );
    instance = await startInstance({ home, port: 0, engines: [agent] });
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    operator = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
  }

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'telemetry-'));
    receiver = await openReceiver();
    await start(false);
  });
  after(async () => {
    await instance.close();
    await receiver.close();
    await rm(home, { recursive: true, force: true });
  });

  const ask = async (prompt: string, traceparent = asked): Promise<string> =>
    (await operator.post('/api/sessions', { prompt, engine: 'agent' }, { traceparent })).body.id as string;
  async function turnOf(prompt: string): Promise<TurnRequest> {
    for (;;) {
      const found = turns.find((turn) => turn.prompt === prompt);
      if (found !== undefined) return found;
      await once(began, 'turn');
    }
  }
  const spanOf = (wanted: (span: SentSpan) => boolean): Promise<SentSpan> =>
    receiver.until(() => receiver.spans().find(wanted));
  const turnSpan = (session: string): Promise<SentSpan> =>
    spanOf(
      ({ name, attributes }) =>
        name === 'invoke_agent agent' && attributes['gen_ai.conversation.id'] === session,
    );
  const parentOf = (span: SentSpan): Promise<SentSpan> =>
    spanOf(({ spanId }) => spanId === span.parentSpanId);

  it('follows one cause over request, event, turn, tool call and child', async () => {
    await ask('open kid');
    const kid = await turnOf('kid');
    const path = [await turnSpan(kid.sessionId)];
    while (path.at(-1)?.parentSpanId !== asked.split('-')[2])
      path.push(await parentOf(path.at(-1) as SentSpan));
    expect(path.map(({ name }) => name)).to.deep.equal([
      'invoke_agent agent',
      'session kernel.created',
      'execute_tool spawn_session',
      'invoke_agent agent',
      'session kernel.created',
      'POST /api/sessions',
    ]);
    expect(new Set(path.map(({ traceId }) => traceId))).to.deep.equal(new Set([askedTrace]));
    expect(path[0]?.attributes).to.include({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'agent',
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 4,
    });
    expect(kid.env['TRACEPARENT'], 'what the program is told').to.equal(
      `00-${askedTrace}-${path[0]?.spanId}-01`,
    );
    const bash = await spanOf(
      ({ name, parentSpanId }) => name === 'execute_tool Bash' && parentSpanId === path[0]?.spanId,
    );
    expect(bash.traceId).to.equal(askedTrace);
  });

  it('lets no agent hide what it does, or show it as the doing of another', async () => {
    const foreign = '00-11111111111111111111111111111111-2222222222222222-00';
    await ask(`open hidden ${foreign}`);
    const { sessionId } = await turnOf('hidden');
    expect((await turnSpan(sessionId)).traceId).to.equal(askedTrace);
  });

  it('sends nothing of a trace that whoever began it does not want', async () => {
    const unwanted = '00-33333333333333333333333333333333-4444444444444444-00';
    await ask('quiet', unwanted);
    await turnSpan(await ask('loud')); // sent after it
    expect(receiver.spans().filter(({ traceId }) => traceId.startsWith('3333'))).to.deep.equal([]);
  });

  it('counts a turn to the message that it answers, not to the turn that was in its way', async () => {
    const session = await ask('hold');
    await turnOf('hold');
    const other = '00-55555555555555555555555555555555-6666666666666666-01';
    await operator.post(`/api/sessions/${session}/message`, { message: 'then' }, { traceparent: other });
    began.emit('release');
    expect((await turnOf('then')).env['TRACEPARENT']).to.match(/^00-5{32}-/);
  });

  it('finds the beginning of a turn of many steps', async () => {
    const session = await ask('steps');
    expect((await turnSpan(session)).traceId).to.equal(askedTrace);
  });

  it('keeps nothing of what a receiver answers that takes nothing', async () => {
    const hostile = createServer((request, response) =>
      response.writeHead(400).end(`no: ${String(request.headers['x-key'])}`),
    );
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
    const lines: string[] = [];
    const log = pino({ base: null }, { write: (line: string) => void lines.push(line) });
    process.env['OTEL_EXPORTER_OTLP_HEADERS'] = 'x-key=parrot';
    try {
      const to = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`;
      const telemetry = await openTelemetry(
        { to, content: false, metricsEverySeconds: 60 },
        { version: '1', instance: 'default', log: () => log },
      );
      const request = { name: () => 'GET /x', traceparent: undefined, sessionId: undefined };
      await telemetry.request({ ...request, attributes: () => ({}) }, () => Promise.resolve());
      await telemetry.close();
    } finally {
      delete process.env['OTEL_EXPORTER_OTLP_HEADERS'];
      hostile.close();
    }
    expect(lines.join()).to.include('telemetry could not be sent').and.not.include('parrot');
  });

  it('sends metrics, and lines of the log with the trace that they belong to', async () => {
    await receiver.until(
      () =>
        ['troupe.up', 'gen_ai.client.token.usage', 'http.server.request.duration'].every((name) =>
          receiver.metrics().includes(name),
        ) || undefined,
    );
    const { log, causality } = instance.app.supervisor.environment;
    await causality?.within(`traceparent=${asked}`, async () => {
      await Promise.resolve();
      log.info('inside of a trace');
    });
    const line = await receiver.until(() =>
      receiver.logs().find(({ body }) => body?.stringValue === 'inside of a trace'),
    );
    expect(line.traceId).to.equal(askedTrace);
    const heard = receiver.logs().find(({ body }) => body?.stringValue === 'the gateway listened');
    expect(heard?.traceId ?? '').to.equal('');
  });

  it('holds no prompt, answer, or word of a tool', () => {
    for (const word of ['velvet', 'crimson', 'hidden', 'open kid'])
      expect(
        receiver.texts.filter((text) => text.includes(word)),
        word,
      ).to.deep.equal([]);
  });

  it('knows the trace of a turn that an earlier gateway began; with `content`, what was said, too', async () => {
    const session = await ask('wait');
    await turnOf('wait');
    await instance.close();
    const created = await spanOf(
      ({ name, attributes }) => name === 'session kernel.created' && attributes['troupe.id'] === session,
    );
    await start(true);
    const cut = await turnSpan(session);
    expect(cut).to.include({ traceId: askedTrace, parentSpanId: created.spanId });
    expect(cut.attributes['troupe.outcome']).to.equal('interrupted');
    const spoken = await turnSpan(await ask('speak'));
    expect(spoken.attributes['gen_ai.input.messages']).to.include('speak');
    expect(spoken.attributes['gen_ai.output.messages']).to.include('velvet speak');
  });
});
