import { expect } from 'chai';
import { sourceOf, sourcesOf } from '../house/sources.js';
import { WebSocket } from 'ws';
import { openOffice, type Browser, type Office } from '../lib/records/office.js';
import { operatorToken, type Answer } from '../lib/gateway/fixture.js';

/**
 * Pages that are not ours, in a browser that is paired: ASVS 3.5.1–3 (cross-site request forgery), 3.4.2 (no
 * CORS),
 * 4.4.2 (Origin of WebSockets). Another port of localhost is the same site, so SameSite alone keeps no one
 * out.
 */
describe('red team: pages of other origins', () => {
  let office: Office;
  let browser: Browser;
  let own: string;
  before(async () => {
    office = await openOffice();
    browser = await office.browser();
    own = `http://127.0.0.1:${office.port}`;
  });
  after(() => office.close());

  const as = (headers: Record<string, string>) => office.client({ cookie: browser.cookie, ...headers });
  const foreign: Record<string, Record<string, string>> = {
    'a page of another site': { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    'a page of another port': { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' },
    'a page of another port by name': { origin: `http://localhost:${1}` },
    'a sandboxed frame': { origin: 'null' },
    'a file': { origin: 'file://' },
    'a form that names no origin': {},
    'a same-site form that hides its origin': { 'sec-fetch-site': 'same-site' },
    'a cross-site form that hides its origin': { 'sec-fetch-site': 'cross-site' },
    'an origin that begins like ours': { origin: 'http://127.0.0.1.evil.example' },
    'our name on another port': { origin: 'http://127.0.0.1', 'sec-fetch-site': 'same-origin' },
    'a typed address': { 'sec-fetch-site': 'none' },
  };
  for (const [name, headers] of Object.entries(foreign)) {
    it(`changes nothing by ${name}`, async () => {
      for (const [method, path, body] of [
        ['POST', '/api/work-items', { title: 'forged' }],
        ['POST', '/api/sessions', { prompt: 'forged' }],
        ['POST', '/api/auth/pairing-codes', {}],
        ['POST', '/api/auth/logout', {}],
        ['DELETE', `/api/auth/devices/${browser.deviceId}`, undefined],
        ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
        ['POST', '/mcp/', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
      ] as const) {
        const answer = await as(headers).call(method, path, body);
        expect(answer.status, `${method} ${path} ${answer.text}`).to.equal(403);
        expect(answer.body.code, path).to.be.oneOf(['ORIGIN_REFUSED', 'CROSS_SITE_REFUSED']);
      }
      expect((await browser.get('/api/work-items')).body.total).to.equal(0);
    });
  }

  // An origin is allowed for consoles that bring a bearer of their own; a cookie is ours, and travels by
  // itself.
  it('changes and reads nothing by a page of an allowed origin that has no credential but our cookie', async () => {
    const allowing = await openOffice({}, { gateway: { allowedOrigins: ['https://console.example'] } });
    try {
      const { cookie } = await allowing.browser();
      const page = allowing.client({ cookie, origin: 'https://console.example' });
      for (const answer of [
        await page.post('/api/work-items', { title: 'forged' }),
        await page.get('/api/work-items'),
      ]) {
        expect([answer.status, answer.body.code]).to.deep.equal([403, 'CROSS_SITE_REFUSED']);
      }
      expect(
        (
          await allowing
            .client({ authorization: `Bearer ${operatorToken}`, origin: 'https://console.example' })
            .get('/api/work-items')
        ).status,
      ).to.equal(200);
    } finally {
      await allowing.close();
    }
  });

  it('reads nothing through images, scripts and frames of a page of another port', async () => {
    for (const [site, dest] of [
      ['same-site', 'script'],
      ['same-site', 'image'],
      ['cross-site', 'iframe'],
      ['cross-site', 'empty'],
    ] as const) {
      const answer = await as({ 'sec-fetch-site': site, 'sec-fetch-dest': dest }).get('/api/work-items');
      expect([answer.status, answer.body.code]).to.deep.equal([403, 'CROSS_SITE_REFUSED']);
      // A slash at the end names the same route, and went past this check.
      for (const path of ['/metrics', '/metrics/', '/mcp/', '/api/work-items/'])
        expect(
          (await as({ 'sec-fetch-site': site, 'sec-fetch-dest': dest }).get(path)).status,
          path,
        ).to.equal(403);
    }
  });

  it('sends no form: text, urlencoded and a body without a name are no JSON', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'text/plain; charset=utf-8',
      'application/jsonp',
      'text/json',
    ]) {
      const answer = await as({ origin: own, 'content-type': type }).post(
        '/api/work-items',
        '{"title":"forged"}',
      );
      expect(answer.status, type).to.equal(415);
    }
  });

  it('lets our own page do all that (or the refusals above would prove nothing)', async () => {
    const ours = as({ origin: own, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' });
    const made = await ours.post('/api/work-items', { title: 'ours' });
    expect(made.status).to.equal(201);
    expect((await ours.post(`/api/work-items/${made.body.workItem.id}/archive`)).status).to.equal(200);
    expect((await as({ 'sec-fetch-site': 'same-origin' }).get('/api/work-items')).status).to.equal(200);
    expect(
      (await as({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }).get('/api/work-items')).status,
      'an address that was typed',
    ).to.equal(200);
  });

  describe('a WebSocket', () => {
    const opened = (headers: Record<string, string>, path: string): Promise<number> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${office.port}${path}`, { headers });
        socket.on('open', () => {
          socket.terminate();
          resolve(101);
        });
        socket.on('unexpected-response', (_request, response) => {
          response.resume();
          socket.terminate();
          resolve(response.statusCode ?? 0);
        });
        socket.on('error', () => undefined);
      });
    for (const path of ['/ws', '/ws/inspect', '/ws/stately']) {
      it(`at ${path} is hijacked by no other page: the cookie needs our own Origin beside it`, async () => {
        const { cookie } = browser;
        for (const origin of [
          'https://evil.example',
          'http://127.0.0.1:1',
          'null',
          'http://localhost',
          `${own}.evil.example`,
          own.replace('http:', 'https:'),
        ])
          expect(await opened({ cookie, origin }, path), origin).to.equal(403);
        expect(await opened({ cookie }, path), 'no Origin').to.equal(403);
        expect(await opened({ cookie, origin: own, host: 'evil.example' }, path), 'a rebound name').to.equal(
          403,
        );
        expect(await opened({ cookie, origin: own, 'sec-fetch-site': 'same-site' }, path)).to.equal(403);
        expect(await opened({ origin: own }, path), 'nobody').to.equal(401);
        expect(await opened({ cookie, origin: own }, path)).to.equal(101);
      });
    }
  });

  it('gets no CORS header from any answer, asked for or not', async () => {
    const asked: Answer[] = [
      await as({ origin: own }).get('/api/work-items'),
      await as({ origin: 'https://evil.example' }).get('/api/status'),
      await as({
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      }).call('OPTIONS', '/api/work-items'),
      await office.client().call('OPTIONS', '/api/auth/pair'),
    ];
    for (const { headers } of asked)
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
  });

  it('cannot frame, sniff or embed an answer, nor learn where it came from', async () => {
    for (const path of ['/api/status', '/pair', '/nothing', '/api/work-items']) {
      const { headers } = await office.client().get(path);
      expect(headers, path).to.include({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      expect(headers['content-security-policy'], path)
        .to.match(/default-src 'none'/)
        .and.match(/frame-ancestors 'none'/)
        .and.not.match(/unsafe|\*/);
    }
  });

  // What agents, workers, backups and repositories are called stands in every view: as text, in all of them
  it('is made of nothing that someone wrote: no view takes a text for HTML or for an address of its own', () => {
    const unsafe =
      /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|srcdoc|document\.write|\beval\(|new Function\b|createContextualFragment/;
    const pages = sourcesOf(['lib/console/page', 'lib/inspector/page', 'lib/page']);
    expect(pages).to.have.length.greaterThan(100);
    expect(pages.filter(({ code }) => unsafe.test(code)).map(({ path }) => path)).to.deep.equal([]);
    expect(unsafe.test(sourceOf('x.tsx', '<p dangerouslySetInnerHTML={{ __html: name }} />').code)).to.equal(
      true,
    );
  });

  it('is logged in as someone else by no page: pairing from another origin is refused', async () => {
    const {
      body: { code },
    } = await browser.post('/api/auth/pairing-codes');
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'http://127.0.0.1:1' },
      { origin: 'null' },
    ]) {
      const answer = await office.client(headers).post('/api/auth/pair', { code });
      expect([answer.status, answer.headers['set-cookie']]).to.deep.equal([403, undefined]);
    }
    expect((await office.client({ origin: own }).post('/api/auth/pair', { code })).status).to.equal(200);
  });
});
