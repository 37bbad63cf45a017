import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { globalAgent } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sessionLinks } from '../../../lib/gateway/session-links.js';
import type { TurnLink } from '../../../actors/session/turn-sandbox.js';
import { selfSigned } from '../../fixtures/certificate.js';
import { makeClient, openHouse, operatorToken, type House } from './fixture.js';

/**
 * The only way out of a strict sandbox leads to the gateway as its session. The gateway sees a process of its own at
 * the other end, and takes no one there for an agent: what is not the session's must not pass here.
 */
describe('the way out of a strict sandbox', () => {
  let house: House;
  let folder: string;
  let link: TurnLink;
  let own: string;
  before(async () => {
    house = await openHouse();
    folder = await mkdtemp(join(tmpdir(), 'links-'));
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'hang' })).body as { id: string };
    own = house.tokens.mint(id);
    const { tokens, gateway } = house;
    const open = sessionLinks({ folder, tokens, gatewayUrl: () => gateway.url, hosts: () => [] });
    link = await open(id, []);
  });
  after(async () => {
    link.close();
    await house.close();
    await rm(folder, { recursive: true });
  });

  /** All that comes back, until the other end has nothing more to say. */
  async function said(
    at: TurnLink,
    ...requests: readonly (readonly [first: string, ...headers: string[]])[]
  ): Promise<string> {
    const socket = connect(at.socket);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    let text = '';
    socket.on('data', (piece) => (text += String(piece)));
    socket.on('error', () => undefined); // the other end may have gone
    for (const [first, ...headers] of requests) {
      const answered = new Promise((resolve) => socket.once('data', resolve));
      socket.write([`${first} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '', ''].join('\r\n'));
      await Promise.race([closed, answered]);
    }
    socket.end();
    await closed;
    return text;
  }
  /** The first that comes back to the beginning of a socket. */
  async function upgraded(at: TurnLink, token: string): Promise<string> {
    const socket = connect(at.socket);
    const lines = ['GET /ws HTTP/1.1', 'Host: 127.0.0.1', bearer(token), ...upgrade, key, '', ''];
    socket.write(lines.join('\r\n'));
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return String(first);
  }
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const key = `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`;
  const bearer = (token: string): string => `Authorization: Bearer ${token}`;
  const close = 'Connection: close';

  it('carries what the session says with its own token', async () => {
    expect(await said(link, ['GET /api/sessions', bearer(own), close])).to.match(/^HTTP\/1.1 200 /);
    expect(await upgraded(link, own)).to.match(/^HTTP\/1.1 101 /);
  });

  // Of a worker it spoke in clear, token and all, to whatever listened at a gateway behind TLS
  it('leads to a gateway behind TLS over TLS', async () => {
    const tls = selfSigned();
    const far = await openHouse({ tls });
    const { localPort, port } = far.gateway;
    const operator = makeClient(localPort, { authorization: `Bearer ${operatorToken}` });
    globalAgent.options.ca = tls.cert;
    try {
      const { id } = (await operator.post('/api/sessions', { prompt: 'hang' })).body as { id: string };
      const token = far.tokens.mint(id);
      const gatewayUrl = (): string => `https://127.0.0.1:${port}`;
      const open = sessionLinks({ folder, tokens: far.tokens, gatewayUrl, hosts: () => [] });
      const secured = await open(id, []);
      expect(await said(secured, ['GET /api/sessions', bearer(token), close])).to.match(/^HTTP\/1.1 200 /);
      expect(await upgraded(secured, token)).to.match(/^HTTP\/1.1 101 /);
      secured.close();
    } finally {
      delete globalAgent.options.ca; // one that is undefined outranks those of requests
      await far.close();
    }
  });

  it('carries nothing with a token that is not its own', async () => {
    expect(await said(link, ['GET /api/config', bearer(operatorToken), close])).to.match(/^HTTP\/1.1 403 /);
  });

  // What came behind an upgrade that the gateway did not make was passed on unseen
  for (const [what, first] of [
    ['another protocol', ['GET /healthz', bearer('OWN'), 'Connection: Upgrade', 'Upgrade: x']],
    ['a standby', ['GET /ws/node', bearer('OWN'), 'Connection: Upgrade', 'Upgrade: troupe-node']],
    ['no token', ['GET /healthz', 'Connection: Upgrade', 'Upgrade: x']],
    ['another method', ['POST /healthz', bearer('OWN'), 'Connection: Upgrade', 'Upgrade: x, websocket']],
  ] as const)
    it(`carries no request behind an upgrade to ${what}`, async () => {
      const [line, ...headers] = first.map((text) => text.replace('OWN', own)) as [string, ...string[]];
      const text = await said(link, [line, ...headers], ['GET /api/attention', bearer(operatorToken), close]);
      expect(text).to.match(/^HTTP\/1.1 403 /);
      expect(text.match(/HTTP\/1\.1/g)).to.have.length(1);
    });

  // An agent that had come by a code could pair a browser, and be a person by its cookies
  it('lets no one pair, join or change anything without a token', async () => {
    for (const path of ['/api/auth/challenge', '/api/auth/pair', '/api/workers/join', '/api/workflow-events'])
      expect(await said(link, [`POST ${path}`, 'Content-Length: 0', close]), path).to.match(
        /^HTTP\/1.1 403 /,
      );
    expect(await said(link, ['GET /ws/stately/a-code', ...upgrade])).to.match(/^HTTP\/1.1 403 /);
    expect(await said(link, ['GET /healthz', close])).to.match(/^HTTP\/1.1 200 /);
  });
});
