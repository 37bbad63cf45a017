import { expect } from 'chai';
import { openHouse, operatorToken, type House } from '../gateway/fixture.js';
import { connectTools } from './mcp-client.js';

/** What passes over the wire, whatever program is at the other end. */
describe('/mcp', () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house.close());

  const post = (message: unknown, headers: Record<string, string> = {}) =>
    house.operator.post('/mcp', message, headers);
  const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
  async function session(): Promise<string> {
    const { body } = await house.operator.post('/api/sessions', { prompt: 'hello' });
    return body.id;
  }

  it('answers the first call of new clients, server/discover, at once with an error', async () => {
    const { status, body } = await post(rpc('server/discover'), { 'mcp-protocol-version': '2026-07-28' });
    expect(status).to.equal(400);
    expect(body.error.message).to.match(/protocol version/i);
    const unversioned = await post(rpc('server/discover'));
    expect(unversioned.body.error).to.include({ code: -32601 });
  });

  it('initializes with whatever version it knows, and goes on without a session', async () => {
    for (const protocolVersion of ['2025-06-18', '2025-11-25']) {
      const { body, headers } = await post(
        rpc('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '0' } }),
      );
      expect(body.result).to.include({ protocolVersion });
      expect(body.result.instructions).to.match(/who_am_i/);
      expect(headers).not.to.have.property('mcp-session-id');
    }
    expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).to.equal(202);
    expect((await post(rpc('tools/list'))).body.result.tools.length).to.be.greaterThan(15);
    expect((await post(rpc('ping'))).body.result).to.deep.equal({});
  });

  it('takes clients that accept JSON only, and refuses what is no message', async () => {
    expect((await post(rpc('tools/list'), { accept: 'application/json' })).status).to.equal(200);
    for (const body of [
      '{',
      '[]',
      '"x"',
      '{}',
      JSON.stringify([rpc('tools/list')]),
      JSON.stringify({ ...rpc('tools/list'), method: 7 }),
    ]) {
      expect((await post(body)).status, body).to.equal(400);
    }
    expect((await post({ ...rpc('tools/list'), params: { x: 'y'.repeat(1_100_000) } })).status).to.equal(413);
  });

  it('has no stream to listen to and no session to end', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await house.operator.call(method, '/mcp', undefined, {
        accept: 'text/event-stream',
      });
      expect(status).to.equal(405);
      expect(headers['allow']).to.include('POST');
    }
  });

  it('asks every request for its credential', async () => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      expect(
        (await house.client().call(method, '/mcp', method === 'POST' ? rpc('tools/list') : undefined)).status,
        method,
      ).to.equal(401);
      expect(
        (
          await house
            .client({ authorization: 'Bearer wrong' })
            .call(method, '/mcp', method === 'POST' ? rpc('tools/list') : undefined)
        ).status,
        method,
      ).to.equal(401);
    }
    expect((await post(rpc('tools/list'), { host: 'evil.example' })).status).to.equal(403);
    expect((await post(rpc('tools/list'), { origin: 'http://evil.example' })).status).to.equal(403);
  });

  it("ends an agent's authority with its token, in the middle of a conversation", async () => {
    const token = house.tokens.mint(await session());
    const box = await connectTools(house.gateway.port, token);
    expect((await box.use('who_am_i')).engine).to.equal('pen');
    house.tokens.revoke(token);
    const error = await box.use('who_am_i').then(
      () => undefined,
      (thrown: { code?: number }) => thrown,
    );
    expect(error?.code).to.equal(401);
    await box.close();
  });

  it("narrows the operator's bearer to the session that its headers prove", async () => {
    const own = await session();
    const headers = {
      'x-svc-tool-call': 'svc-mcp',
      'x-svc-caller-session': own,
      'x-svc-session-capability': house.tokens.mint(own),
    };
    const { body } = await post(rpc('tools/call', { name: 'who_am_i', arguments: {} }), headers);
    expect(JSON.parse(body.result.content[0].text).id).to.equal(own);
    expect((await post(rpc('tools/list'), { 'x-svc-tool-call': 'svc-mcp' })).status).to.equal(403);
  });

  it('answers many calls at once, each with its own caller', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, session));
    const seen = await Promise.all(
      ids.map(async (id) => {
        const { body } = await house
          .agent(id)
          .post('/mcp', rpc('tools/call', { name: 'who_am_i', arguments: {} }));
        return JSON.parse(body.result.content[0].text).id;
      }),
    );
    expect(seen).to.deep.equal(ids);
  });

  it("tells no one the operator's token", async () => {
    const own = await session();
    const answers = await Promise.all([
      ...['initialize', 'tools/list'].map((method) =>
        house
          .agent(own)
          .post(
            '/mcp',
            rpc(
              method,
              method === 'initialize'
                ? { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '0' } }
                : {},
            ),
          ),
      ),
      ...['who_am_i', 'read_session', 'list_work_items'].map((name) =>
        house
          .agent(own)
          .post(
            '/mcp',
            rpc('tools/call', { name, arguments: name === 'read_session' ? { sessionId: own } : {} }),
          ),
      ),
    ]);
    for (const { status, text } of answers) {
      expect(status).to.equal(200);
      expect(text).not.to.include(operatorToken);
    }
  });
});
