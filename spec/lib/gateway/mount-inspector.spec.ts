import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { root } from '../../house/sources.js';
import { mountInspector } from '../../../lib/gateway/mount-inspector.js';
import { addressIn } from '../../crash/victim.js';

/** The inspector in three applications, each run as a person would copy it. */
describe('a mounted inspector', function () {
  this.timeout(180_000);
  let child: ChildProcess;
  const signedIn = { cookie: 'key=open-sesame' }; // all that a browser sends with its live feed
  async function start(name: string): Promise<string> {
    child = spawn(process.execPath, [join(root, 'dist/examples', `${name}.js`)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'] },
    });
    return (await addressIn(child, /(http:\S+)\n/)).replace(/\/$/, '');
  }
  afterEach(async () => {
    const ended = once(child, 'close');
    if (!child.kill('SIGTERM')) return; // it never began
    expect((await ended)[0], 'it ends by itself once nothing is open').to.equal(0);
  });

  const send = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ event: { type: 'nothing' } }),
    });
  /** The first frame, or the status with which it was turned away. */
  const watch = (url: string, headers: Record<string, string>): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws/inspect`, ['troupe'], { headers });
      socket.once('message', (text: Buffer) => {
        resolve((JSON.parse(text.toString()) as { event: string }).event);
        socket.terminate();
      });
      socket.once('unexpected-response', (_request, response) => {
        resolve(String(response.statusCode));
        response.destroy();
      });
      socket.once('error', reject);
    });

  for (const [name, prefix, guests] of [
    ['inspector-http', '/inspect', 401],
    ['inspector-koa', '', 200],
    ['inspector-express', '', 401],
  ] as const) {
    it(`${name} serves page, data and feed to whom the application lets in, and to others what it may`, async () => {
      const url = `${await start(name)}${prefix}`;
      const path = new URL(url).pathname;
      expect((await fetch(url)).status, 'the page of a guest').to.equal(guests);
      expect((await fetch(`${url}/api/inspect/fleet`)).status, 'the data of a guest').to.equal(guests);
      const shell = await (await fetch(url, { headers: signedIn })).text();
      expect(shell).to.include(`data-base="${path}"`);
      const script = /src="([^"]+\.js)"/.exec(shell)?.[1] ?? '';
      expect(script.startsWith(`${path}/`), script).to.equal(true);
      const file = await fetch(new URL(script, url), { headers: signedIn });
      expect([file.status, file.headers.get('content-type')]).to.deep.equal([
        200,
        'text/javascript; charset=utf-8',
      ]);
      const page = await fetch(`${url}/api/inspect/actors?kind=light`, { headers: signedIn });
      expect(((await page.json()) as { actors: { id: string }[] }).actors.map(({ id }) => id)).to.deep.equal([
        'north',
      ]);
      expect((await fetch(`${url}/api/sessions`, { headers: signedIn })).status, 'no gateway').to.equal(404);
      expect(await watch(url, signedIn)).to.equal('hello');
      if (guests === 401) expect(await watch(url, {})).to.equal('401');
      const outside = await fetch(new URL('/', url));
      expect([outside.status, outside.headers.get('content-security-policy')]).to.deep.equal([200, null]);
    });

    it(`${name} lets no page of another origin act or watch, and no one act who may only see`, async () => {
      const url = `${await start(name)}${prefix}`;
      const event = `${url}/api/inspect/actors/light/north/send`;
      const foreign = { ...signedIn, origin: 'https://evil.example' };
      expect((await send(event, signedIn)).status, 'an event that nobody may send').to.equal(400);
      expect((await send(event, { ...signedIn, origin: new URL(url).origin })).status).to.equal(400);
      expect((await send(event, foreign)).status).to.equal(403);
      expect(await watch(url, foreign)).to.equal('403');
      expect((await send(event)).status, 'a guest').to.equal(guests === 401 ? 401 : 403);
    });
  }

  it('is shown in a frame where the application says so, and nowhere else', async () => {
    const policyOf = async (name: string, prefix = ''): Promise<string | null> => {
      const answer = await fetch(`${await start(name)}${prefix}`, { headers: signedIn });
      return `${answer.headers.get('x-frame-options')} ${/frame-ancestors [^;]+/.exec(answer.headers.get('content-security-policy') ?? '')?.[0]}`;
    };
    expect(await policyOf('inspector-koa')).to.equal("null frame-ancestors 'self'");
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    await ended;
    expect(await policyOf('inspector-express')).to.equal("DENY frame-ancestors 'none'");
  });
});

describe('mountInspector', () => {
  it('refuses a prefix that is none', () => {
    for (const prefix of ['', '/', 'inspect', '/inspect/', '/a"b', '/<x>'])
      expect(() => mountInspector({} as never, { authorize: () => true, prefix }), prefix).to.throw(
        TypeError,
        'must be a path',
      );
  });
});
