import { expect } from 'chai';
import { connect } from 'node:net';
import { pino } from 'pino';
import { openHouse, operatorToken, watch, type House } from './fixture.js';

describe('authentication', () => {
  let house: House;
  before(async () => {
    house = await openHouse({
      allowedHosts: ['console.example'],
      allowedOrigins: ['https://console.example'],
    });
  });
  after(() => house.close());

  const bearer = { authorization: `Bearer ${operatorToken}` };

  describe('credentials', () => {
    const wrong: Record<string, Record<string, string>> = {
      'no credential': {},
      'another token': { authorization: 'Bearer wrong-token-of-43-characters-aaaaaaaaaaaaa' },
      'a prefix of the token': { authorization: `Bearer ${operatorToken.slice(0, -1)}` },
      'the scheme in lower case': { authorization: `bearer ${operatorToken}` },
      'two blanks': { authorization: `Bearer  ${operatorToken}` },
      'another scheme': { authorization: `Basic ${Buffer.from(`x:${operatorToken}`).toString('base64')}` },
      'the bare token': { authorization: operatorToken },
    };
    for (const [name, headers] of Object.entries(wrong)) {
      it(`answers 401 to ${name}`, async () => {
        const answer = await house.client(headers).get('/api/work-items');
        expect(answer.status).to.equal(401);
        expect(answer.body).to.deep.equal({
          error: 'Missing or invalid gateway auth token.',
          code: 'UNAUTHENTICATED',
        });
      });
    }

    it('answers 401 before it says whether path or method exist', async () => {
      expect((await house.client().get('/api/nothing/here')).status).to.equal(401);
      expect((await house.client().call('DELETE', '/api/work-items')).status).to.equal(401);
      expect((await house.client().get('/api/openapi.json')).status).to.equal(401);
      expect((await house.client().get('/metrics')).status).to.equal(401);
    });

    it('answers 404 and 405 with Allow to those who may know', async () => {
      expect((await house.operator.get('/api/nothing/here')).body).to.deep.equal({
        error: 'Not found',
        code: 'NOT_FOUND',
      });
      expect((await house.operator.get('/nothing')).status).to.equal(404);
      const wrongMethod = await house.operator.call('DELETE', '/api/work-items');
      expect(wrongMethod.status).to.equal(405);
      expect(String(wrongMethod.headers.allow).split(', ')).to.have.members(['GET', 'HEAD', 'POST']);
      expect((await house.operator.call('OPTIONS', '/api/work-items')).status).to.equal(405);
      expect((await house.operator.get('/API/work-items')).status).to.equal(404);
      expect((await house.client().get('/nothing')).status).to.equal(404);
    });

    it('lets everybody read status, auth state and health', async () => {
      const status = await house.client().get('/api/status');
      expect(status.status).to.equal(200);
      expect(status.body).to.include({ status: 'ok', port: house.gateway.port });
      expect(
        (await house.client({ authorization: 'Bearer wrong' }).get('/api/auth/state')).body,
      ).to.deep.equal({
        authRequired: true,
        authenticated: false,
        canBootstrapLocal: false,
        networkExposed: false,
        instance: 'default',
      });
      expect((await house.operator.get('/api/auth/state')).body.authenticated).to.equal(true);
      const health = await house.client().get('/healthz');
      expect([health.status, health.text]).to.deep.equal([200, 'ok']);
    });
  });

  describe('Host', () => {
    for (const host of [
      '127.0.0.1',
      'localhost:1234',
      '[::1]:7',
      '127.8.9.1',
      'LOCALHOST',
      'console.example',
      'console.example:8443',
    ]) {
      it(`lets ${host} in`, async () => {
        expect((await house.client({ ...bearer, host }).get('/api/work-items')).status).to.equal(200);
      });
    }
    for (const host of [
      'evil.example',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      '0.0.0.0',
      '10.0.0.1',
      '127.evil.com',
      'console.example.evil',
      '[::2]',
    ]) {
      it(`keeps ${host} out, even from public routes`, async () => {
        const answer = await house.client({ ...bearer, host }).get('/api/status');
        expect([answer.status, answer.body.code]).to.deep.equal([403, 'HOST_REFUSED']);
      });
    }
    for (const host of [
      'evil.com:x@127.0.0.1',
      '127.0.0.1/../x',
      'a b',
      '127.0.0.1?x',
      '127.0.0.1#',
      'user@localhost',
      'localhost:99999999',
    ]) {
      it(`calls ${host} malformed`, async () => {
        expect((await house.client({ ...bearer, host }).get('/api/status')).status).to.equal(400);
      });
    }
  });

  describe('Origin', () => {
    it('lets the same origin and the allowed ones in', async () => {
      const own = `http://127.0.0.1:${house.gateway.port}`;
      expect((await house.client({ ...bearer, origin: own }).get('/api/status')).status).to.equal(200);
      expect(
        (await house.client({ ...bearer, origin: 'https://console.example' }).get('/api/status')).status,
      ).to.equal(200);
    });
    for (const origin of [
      'http://127.0.0.1:1',
      'http://evil.example',
      'null',
      'https://console.example.evil',
      'http://console.example',
      'file://',
      'http://localhost',
    ]) {
      it(`keeps ${origin} out and sends no CORS header`, async () => {
        const answer = await house.client({ ...bearer, origin }).post('/api/work-items', { title: 'x' });
        expect([answer.status, answer.body.code]).to.deep.equal([403, 'ORIGIN_REFUSED']);
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).to.deep.equal(
          [],
        );
      });
    }
  });

  describe('bodies', () => {
    it('refuses what is too long, before and while it arrives', async () => {
      const long = JSON.stringify({ title: 'x'.repeat(1_100_000) });
      const announced = await house.operator.post('/api/work-items', long);
      expect([announced.status, announced.body.code]).to.deep.equal([413, 'PAYLOAD_TOO_LARGE']);
      const chunked = await raw(house.gateway.port, [
        `POST /api/work-items HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${operatorToken}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
        `${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`,
      ]);
      expect(chunked).to.match(/^HTTP\/1\.1 413 /);
    });

    it('refuses broken, deep and foreign JSON', async () => {
      expect((await house.operator.post('/api/work-items', '{"title":')).body.error).to.equal(
        'Invalid JSON in request body',
      );
      expect((await house.operator.post('/api/work-items', '[]')).status).to.equal(400);
      expect(
        (
          await house.operator.post(
            '/api/work-items',
            `{"title":"x","deep":${'['.repeat(40)}${']'.repeat(40)}}`,
          )
        ).body.error,
      ).to.match(/deeper than 32/);
      expect(
        (await house.operator.post('/api/work-items', `{"deep":${'['.repeat(200_000)}`)).status,
      ).to.equal(400);
      expect(
        (await house.operator.post('/api/work-items', Buffer.from([0x7b, 0xff, 0x7d]))).body.error,
      ).to.equal('The body is not UTF-8.');
      expect(
        (
          await house.operator.post(
            '/api/work-items',
            { title: 'x' },
            { 'content-type': 'application/json; charset=latin1' },
          )
        ).status,
      ).to.equal(415);
      expect(
        (
          await house.operator.post(
            '/api/work-items',
            { title: 'x' },
            { 'content-type': 'multipart/form-data; boundary=x' },
          )
        ).status,
      ).to.equal(415);
      expect(
        (await house.operator.post('/api/work-items', { title: 'x' }, { 'content-encoding': 'gzip' })).status,
      ).to.equal(415);
    });

    it('takes JSON with a charset, and is not poisoned by __proto__', async () => {
      expect(
        (
          await house.operator.post(
            '/api/work-items',
            { title: 'x' },
            { 'content-type': 'application/json; charset=UTF-8' },
          )
        ).status,
      ).to.equal(201);
      const answer = await house.operator.post(
        '/api/work-items',
        '{"title":"x","__proto__":{"assignee":"eve"}}',
      );
      expect(answer.body.workItem.assignee).to.equal(null);
      expect(({} as { assignee?: string }).assignee).to.equal(undefined);
    });

    it('refuses headers over 16 KiB', async () => {
      expect((await house.operator.get('/api/status', { 'x-long': 'x'.repeat(20_000) })).status).to.equal(
        431,
      );
    });
  });

  it('passes a well formed traceparent on, and nothing else', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect((await house.client().get('/api/status', { traceparent })).headers['traceparent']).to.equal(
      traceparent,
    );
    expect(
      (await house.client().get('/api/status', { traceparent: '00-zz-1-1' })).headers['traceparent'],
    ).to.equal(undefined);
  });

  for (const id of [
    '%00',
    'a%2Fb',
    '..%2F..%2Fetc',
    '%E0%A4%A',
    '%',
    'a%20b',
    '%C3%A4',
    'x'.repeat(3_000),
    '__proto__',
    'm%2Fplan%2Fx',
    '~',
    '*',
    '%7F',
  ]) {
    it(`finds nothing under the odd id ${id.slice(0, 30)}, on every route that takes one`, async () => {
      for (const path of [
        'sessions/:id',
        'sessions/:id/messages',
        'sessions/:id/children',
        'work-items/:id',
        'work-items/:id/sessions',
        'inspect/actors/session/:id',
        'inspect/actors/:id/x',
        'inspect/actors/session/:id/why',
        'inspect/actors/session/:id/history?before=3',
      ]) {
        expect((await house.operator.get(`/api/${path.replace(':id', id)}`)).status, path).to.be.oneOf([
          400, 404,
        ]);
      }
      for (const path of [
        'sessions/:id/stop',
        'sessions/:id/message',
        'work-items/:id/archive',
        'work-items/:id/approval/escalate',
        'inspect/dead-letters/:id/retry',
        'inspect/actors/session/:id/resume',
        'inspect/actors/:id/x/resume',
      ]) {
        const answer = await house.operator.post(`/api/${path.replace(':id', id)}`, { message: 'x' });
        expect(answer.status, `${path} ${answer.text}`).to.be.oneOf([400, 404]);
      }
    });
  }

  it('answers a fault with an id that the log knows, and nothing else', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
    const broken = await openHouse({
      log,
      settings: {
        home: '/dev/null/nowhere',
        sessionRoots: [],
        interruptOnNewMessage: true,
        turnDeadlineMs: 1000,
      },
    });
    try {
      // No folder can be made there
      const answer = await broken.operator.post('/api/sessions', { prompt: 'x' });
      expect(answer.status).to.equal(500);
      expect(answer.body).to.have.all.keys('error', 'code', 'faultId');
      expect(answer.text).not.to.match(/ENOTDIR|nowhere|at .*js/);
      expect(
        lines.filter((line) => line.includes(answer.body.faultId) && line.includes('ENOTDIR')),
      ).to.have.length(1);
      expect(lines.join('')).not.to.include(operatorToken);
    } finally {
      await broken.close();
    }
  });

  it('guards the socket like the routes', async () => {
    const url = `ws://127.0.0.1:${house.gateway.port}/ws`;
    const refusedWith = async (path: string, headers: Record<string, string>): Promise<number> => {
      try {
        (await watch(path, headers)).ws.terminate();
        return 101;
      } catch (error) {
        return (error as { status: number }).status;
      }
    };
    expect(await refusedWith(url, {})).to.equal(401);
    expect(await refusedWith(url, { authorization: 'Bearer no' })).to.equal(401);
    expect(await refusedWith(url, { ...bearer, host: 'evil.example' })).to.equal(403);
    expect(await refusedWith(url, { ...bearer, origin: 'http://evil.example' })).to.equal(403);
    expect(await refusedWith(url, { ...bearer, 'x-svc-tool-call': 'svc-mcp' })).to.equal(403);
    expect(await refusedWith(`${url}/else`, bearer)).to.equal(404);
    expect(await refusedWith(`${url}?token=${operatorToken}`, {})).to.equal(401);
    expect(await refusedWith(`${url}?since=x`, bearer)).to.equal(400);
    expect(await refusedWith(url, bearer)).to.equal(101);
  });
});

describe('a gateway without required authentication', () => {
  it('opens reads on loopback, never mutations', async () => {
    const house = await openHouse({ authRequired: false });
    try {
      expect((await house.client().get('/api/work-items')).status).to.equal(200);
      expect((await house.client().post('/api/work-items', { title: 'x' })).status).to.equal(401);
      expect((await house.client({ authorization: 'Bearer wrong' }).get('/api/work-items')).status).to.equal(
        401,
      );
      // a tool call that lost its bearer must not read as if it were a person
      expect((await house.client({ 'x-svc-tool-call': 'svc-mcp' }).get('/api/work-items')).status).to.equal(
        401,
      );
      expect((await house.operator.post('/api/work-items', { title: 'x' })).status).to.equal(201);
    } finally {
      await house.close();
    }
  });

  it('is refused by a non-loopback bind, which forces authentication', async () => {
    const house = await openHouse({ authRequired: false, host: '0.0.0.0' });
    try {
      const state = (await house.client().get('/api/auth/state')).body;
      expect(state).to.include({ authRequired: true, networkExposed: true });
      expect((await house.client().get('/api/work-items')).status).to.equal(401);
    } finally {
      await house.close();
    }
  });
});

/** Bytes on a bare connection; everything that came back until it closed. */
function raw(port: number, parts: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let heard = '';
    socket.on('data', (chunk) => (heard += String(chunk)));
    socket.on('error', () => undefined); // the far side may cut a body that it refused
    socket.on('close', () => resolve(heard));
    for (const part of parts) socket.write(part);
  });
}
