import { expect } from 'chai';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { WebSocket } from 'ws';
import { openHouse, operatorToken, type House } from '../lib/gateway/fixture.js';
import { buildPages } from '../../lib/build-pages.js';

/** What the gateway gives to the one who opens the page, before it is known who that is. */
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
    const inspector = String((await house.client().get('/inspect')).headers['content-security-policy']);
    expect(headers['content-security-policy']).to.equal(
      inspector.replace("trusted-types 'none'", 'trusted-types push-worker'), // one address, for notifications
    );
    expect(addresses(text).every((address) => address.startsWith('/console/'))).to.equal(true);
    expect((await house.client().get('/console/main.js')).status).to.equal(404);
    expect(await firstBytes(text, '/console/'))
      .to.be.greaterThan(5_000)
      .and.lessThan(60 * 1_024);
  });

  // Without it an iPhone lets no page ask for notifications
  it('of the console say how it is installed as an app', async () => {
    const { text } = await house.client().get('/');
    const [, address = ''] = /<link rel="manifest" href="([^"]+)">/.exec(text) ?? [];
    const { status, headers, text: json } = await house.client().get(address);
    expect(status).to.equal(200);
    const manifest = JSON.parse(json);
    expect(headers['content-type']).to.match(/^application\/manifest\+json/);
    expect(manifest).to.include({ start_url: '/', scope: '/', display: 'standalone' });
    for (const { src } of manifest.icons) expect((await house.client().get(src)).status, src).to.equal(200);
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

  /** As it goes over the wire to a browser that takes gzip: what the shell names and what that imports at once. */
  const firstBytes = async (text: string, at: string): Promise<number> => {
    let sum = text.length;
    const todo = addresses(text);
    for (const address of todo) {
      const { bytes, plain } = await fetched(address, 'gzip');
      sum += bytes.length;
      for (const match of plain.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g))
        if (!todo.includes(`${at}${match[1]}`)) todo.push(`${at}${match[1]}`);
    }
    return sum;
  };

  interface Fetched {
    readonly encoding: string | undefined;
    readonly vary: string | undefined;
    readonly bytes: Buffer;
    readonly plain: string;
  }

  /** The bytes as they came, and what they say. */
  const fetched = (address: string, accepted?: string): Promise<Fetched> =>
    new Promise((resolve, reject) => {
      const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
      request(`${house.gateway.url}${address}`, { headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => {
          const bytes = Buffer.concat(parts);
          const encoding = answer.headers['content-encoding'];
          const open = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ''];
          const plain = (open === undefined ? bytes : open(bytes)).toString();
          resolve({ encoding, vary: answer.headers.vary, bytes, plain });
        });
      })
        .on('error', reject)
        .end();
    });

  // Which view is the first is known when it is known what waits: each is counted with what it needs
  it('weigh at most 45,000 bytes until the inspector is drawn', async () => {
    const { text } = await house.client().get('/inspect');
    const scripts = addresses(text).filter((address) => address.endsWith('.js'));
    const program = (await Promise.all(scripts.map(async (one) => (await fetched(one)).plain))).join('\n');
    for (const view of ['fleet', 'waiting']) {
      const [, file] = new RegExp(`import\\("\\./(${view}-\\w+\\.js)"\\)`).exec(program) ?? [];
      expect(file, view).to.not.equal(undefined);
      expect(await firstBytes(`${text}<script src="/inspect/${file}">`, '/inspect/'), view)
        .to.be.greaterThan(5_000)
        .and.lessThan(45_000);
    }
  });

  // Each browser that came was sent four times what it had to load: nothing was compressed at all.
  it('come as the browser takes them, and say the same however they come', async () => {
    const [address = ''] = addresses((await house.client().get('/inspect')).text).filter((one) =>
      one.endsWith('.js'),
    );
    const plain = await fetched(address);
    expect(plain.encoding).to.equal(undefined);
    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip;q=1.0, br;q=0', 'gzip'],
      ['GZIP', 'gzip'],
      ['identity', undefined],
      ['br;q=0.0', undefined],
    ] as const) {
      const answer = await fetched(address, accepted);
      expect(answer, accepted).to.include({ encoding, vary: 'Accept-Encoding', plain: plain.plain });
      if (encoding !== undefined) expect(answer.bytes.length).to.be.lessThan(plain.bytes.length / 2);
    }
    expect((await house.client().get(`${address}.br`)).status, 'not by its own name').to.equal(404);
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
