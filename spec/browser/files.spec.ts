import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { WebSocket } from 'ws';
import { openHouse, operatorToken, type House } from '../lib/gateway/fixture.js';
import { buildPages } from '../../lib/build-pages.js';

/** What the gateway gives to whoever opens the page, before it is known who that is. */
describe('the files of the page', () => {
  let house: House;
  before(async () => {
    await buildPages();
    house = await openHouse();
  });
  after(() => house.close());

  const addresses = (html: string): string[] =>
    [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);

  it('are given to anybody, under a policy that lets nothing else run or load', async () => {
    const { status, headers, text } = await house.client().get('/inspect');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/html; charset=utf-8');
    expect(headers['cache-control']).to.equal('no-store');
    const policy = String(headers['content-security-policy']);
    expect(policy)
      .to.include("default-src 'none'")
      .and.include("script-src 'self'")
      .and.include("style-src 'self'")
      .and.include("connect-src 'self'")
      .and.include("frame-ancestors 'none'");
    expect(policy).to.not.include('unsafe').and.not.include('*').and.not.include('http');
    expect(text).to.not.match(/<script>|<style|\son\w+=|style="/);
    expect(addresses(text).every((address) => address.startsWith('/inspect/'))).to.equal(true);
  });

  // The bare address that the start prints answered "Not found".
  it('of the console are at the bare address, under the same policy, and weigh at most 60 KB at first', async () => {
    const { status, headers, text } = await house.client().get('/');
    expect(status).to.equal(200);
    expect(headers['content-security-policy']).to.equal(
      (await house.client().get('/inspect')).headers['content-security-policy'],
    );
    expect(addresses(text).every((address) => address.startsWith('/console/'))).to.equal(true);
    expect((await house.client().get('/console/main.js')).status).to.equal(404);
    expect(await firstBytes(text, '/console/'))
      .to.be.greaterThan(5_000)
      .and.lessThan(60_000);
  });

  it('are named for their content, kept by browsers for ever, and nothing else is found beside them', async () => {
    const { text } = await house.client().get('/inspect');
    for (const address of addresses(text)) {
      const answer = await house.client().get(address);
      expect(answer.status, address).to.equal(200);
      expect(address).to.match(/-[A-Z0-9]{8}\.(?:js|css|svg)$/);
      expect(answer.headers['cache-control']).to.include('immutable');
      expect(answer.headers['x-content-type-options']).to.equal('nosniff');
    }
    for (const path of ['main.js', '..%2f..%2fserve.js', '%2e%2e/%2e%2e/version.js', 'index.js', ''])
      expect((await house.client().get(`/inspect/${path}`)).status, path).to.be.oneOf(
        path === '' ? [200, 404] : [404],
      );
    expect((await house.client().post('/inspect')).status).to.equal(405);
  });

  /** Gzipped: the shell, what it names, and what that imports at once. What comes later does not count. */
  const firstBytes = async (text: string, at: string): Promise<number> => {
    const get = async (address: string): Promise<string> => (await house.client().get(address)).text;
    const bodies = await Promise.all(addresses(text).map(get));
    const seen = new Set<string>();
    for (const body of bodies)
      for (const match of body.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)) {
        const name = match[1] ?? '';
        if (seen.has(name)) continue;
        seen.add(name);
        bodies.push(await get(at + name));
      }
    return [text, ...bodies].reduce((sum, body) => sum + gzipSync(body).length, 0);
  };

  it('weigh less than 150 KB gzip at the first load', async () => {
    const { text } = await house.client().get('/inspect');
    expect(await firstBytes(text, '/inspect/'))
      .to.be.greaterThan(5_000)
      .and.lessThan(150_000);
  });

  it('hold no data: the feed and every answer want to know who asks', async () => {
    for (const path of ['fleet', 'supervision', 'actors?kind=session'])
      expect((await house.client().get(`/api/inspect/${path}`)).status, path).to.equal(401);
    const refused = await house.socket('/ws/inspect', {}).then(
      () => 0,
      (error: { status?: number }) => error.status,
    );
    expect(refused).to.equal(401);
  });

  it("let a page's socket bring its token as a subprotocol, and echo none of it", async () => {
    const open = (protocols: string): Promise<unknown> =>
      house.socket('/ws/inspect', { 'sec-websocket-protocol': protocols }).then(
        ({ ws }) => ws.protocol,
        (error: { status?: number }) => error.status,
      );
    expect(await open('troupe, bearer.wrong')).to.equal(401);
    expect(await open('troupe')).to.equal(401);
    expect(await open(`bearer.${operatorToken}`)).to.equal(401);
    const heads: string[] = [];
    const socket = new WebSocket(`${house.gateway.url.replace('http', 'ws')}/ws/inspect`, [
      'troupe',
      `bearer.${operatorToken}`,
    ]);
    socket.on('upgrade', ({ headers }) => heads.push(JSON.stringify(headers)));
    await new Promise((resolve, reject) => {
      socket.on('open', resolve);
      socket.on('error', reject);
    });
    expect(socket.protocol).to.equal('troupe');
    expect(heads.join()).to.not.include(operatorToken);
    socket.terminate();
  });
});
