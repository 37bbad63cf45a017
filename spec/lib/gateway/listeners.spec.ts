import { expect } from 'chai';
import { once } from 'node:events';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { WebSocket } from 'ws';
import { selfSigned } from '../../fixtures/certificate.js';
import { cookiesOf, openOffice, type Office } from '../records/office.js';
import { makeClient, openHouse, operatorToken, watch } from './fixture.js';
import { openListeners } from '../../../lib/gateway/listeners.js';

describe('over TLS', () => {
  const tls = selfSigned();
  let office: Office;
  before(async () => {
    office = await openOffice({}, { gateway: { tls } });
  });
  after(() => office.close());

  const ask = (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: object,
  ): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: any }> =>
    new Promise((resolve, reject) => {
      // what a foreign client sees is unknown to us on purpose
      const sent = request(
        {
          host: '127.0.0.1',
          port: office.port,
          method,
          path,
          ca: tls.cert,
          headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
        },
        (response) => {
          let text = '';
          response.on('data', (chunk) => (text += String(chunk)));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: text.startsWith('{') ? JSON.parse(text) : text,
            }),
          );
        },
      );
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });

  it('speaks HTTPS to everybody, with cookies that never leave it and HSTS', async () => {
    const { body } = await ask('POST', '/api/auth/pairing-challenges', {}, {});
    await writeFile(body.path, body.nonce, { mode: 0o600 });
    const {
      body: { code },
    } = await ask('POST', '/api/auth/pairing-codes', {}, { challengeId: body.challengeId });
    const paired = await ask('POST', '/api/auth/pair', {}, { code });
    const cookies = paired.headers['set-cookie'] as string[];
    for (const cookie of cookies) expect(cookie).to.match(/; SameSite=Strict; Max-Age=31536000; Secure$/);
    expect(paired.headers['strict-transport-security']).to.match(/^max-age=/);
    const cookie = cookies.map((one) => one.split(';', 1)[0]).join('; ');
    const origin = `https://127.0.0.1:${office.port}`;
    expect((await ask('POST', '/api/work-items', { cookie, origin }, { title: 'x' })).status).to.equal(201);
    expect(
      (
        await ask(
          'POST',
          '/api/work-items',
          { cookie, origin: origin.replace('https', 'http') },
          { title: 'x' },
        )
      ).status,
      'http is another origin',
    ).to.equal(403);
    const socket = new WebSocket(`wss://127.0.0.1:${office.port}/ws`, {
      ca: tls.cert,
      headers: { cookie, origin },
    });
    await once(socket, 'open');
    socket.terminate();
  });

  it('answers nothing in the clear on that port', async () => {
    const answer = await makeClient(office.port, {})
      .get('/api/status')
      .then(
        ({ status }) => status,
        () => 'refused',
      );
    expect(answer).to.equal('refused');
  });
});

describe('over TLS, the programs of this machine', () => {
  it('have a plain port of their own on loopback', async () => {
    const house = await openHouse({ tls: selfSigned() });
    try {
      expect(house.gateway.url).to.match(/^https:/);
      expect(house.gateway.localPort).not.to.equal(house.gateway.port);
      const local = makeClient(house.gateway.localPort, { authorization: `Bearer ${operatorToken}` });
      const answer = await local.get('/api/work-items');
      expect(answer.status).to.equal(200);
      expect(answer.headers).not.to.have.property('strict-transport-security');
      expect(cookiesOf(await local.post('/api/auth/logout')), 'no pairing in this house').to.equal('');
    } finally {
      await house.close();
    }
  });
});

describe('a reader that does not read', () => {
  it('is cut, and who reads slowly but steadily is not', async () => {
    const house = await openHouse({ slow: { checkEveryMs: 50, bytesMin: 1_024, checksMax: 4 } });
    try {
      const ask = `GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${operatorToken}\r\n\r\n`;
      const open = (): Socket => {
        const socket = connect(house.gateway.port, '127.0.0.1');
        socket.on('error', () => undefined); // being cut is what is expected
        socket.write(ask.repeat(90));
        return socket;
      };
      const deaf = open();
      deaf.pause();
      const slow = open();
      let slowHeard = 0;
      let slowEnded = false;
      slow.on('close', () => (slowEnded = true));
      slow.on('data', (chunk: Buffer) => {
        slowHeard += chunk.length;
        slow.pause();
        setImmediate(() => slow.resume());
      });
      await new Promise<void>((resolve) => {
        const looking = setInterval(() => {
          // a paused socket does not notice its end: writing to it does
          deaf.write('\r\n', (error) => {
            if (error) {
              clearInterval(looking);
              resolve();
            }
          });
        }, 20);
      });
      // How much that is by then depends on the machine
      while (slowHeard <= 1_000_000 && !slowEnded) await new Promise((resolve) => setImmediate(resolve));
      expect(slowEnded).to.equal(false);
      deaf.destroy();
      slow.destroy();
    } finally {
      await house.close();
    }
  });
});

/**
 * Java's HTTP client and curl --http2 offer h2c with every request; each of these was answered "Not found".
 */
describe('a client that would rather speak HTTP/2', () => {
  it('is answered in HTTP/1.1, with the body that it sent, again and again on one connection', async () => {
    const house = await openHouse();
    const socket = connect({ port: house.gateway.port, host: '127.0.0.1' });
    let heard = '';
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
    });
    const head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${operatorToken}\r\nContent-Type: application/json\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n`;
    const body = '{"title": "over h2c"}';
    for (const [text, answered] of [
      [
        `POST /api/work-items HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
        /HTTP\/1\.1 201 [^]*"over h2c"/,
      ],
      [`GET /api/work-items HTTP/1.1\r\n${head}\r\n`, /HTTP\/1\.1 200 [^]*"total":1/],
    ] as const) {
      heard = '';
      socket.write(text);
      while (!answered.test(heard) && !/HTTP\/1\.1 4/.test(heard)) await once(socket, 'data');
      expect(heard).to.match(answered);
    }
    socket.destroy();
    await house.close();
  });
});

// The gateway's address is known before there is a gateway: who asks in between (an agent of an earlier life) waits.
describe('listeners before there is a gateway', () => {
  it('keep requests and upgrades, and hand them to it', async () => {
    const listeners = await openListeners({ host: '127.0.0.1', port: 0 });
    const received = Promise.all(listeners.servers.map((server) => once(server, 'connection')));
    const early = makeClient(listeners.port, { authorization: `Bearer ${operatorToken}` }).get('/api/status');
    const watching = watch(`ws://127.0.0.1:${listeners.port}/ws`, {
      authorization: `Bearer ${operatorToken}`,
    });
    await received;
    const house = await openHouse({ listeners });
    try {
      expect((await early).status).to.equal(200);
      const socket = await watching; // it hears what happens from then on
      await house.operator.post('/api/sessions', { prompt: 'hello' });
      await socket.until(({ event }) => event === 'session:created');
      socket.ws.terminate();
    } finally {
      await house.close();
    }
  });

  it('give the port back when no gateway comes', async () => {
    const first = await openListeners({ host: '127.0.0.1', port: 0 });
    first.close();
    const second = await openListeners({ host: '127.0.0.1', port: first.port });
    second.close();
  });
});
