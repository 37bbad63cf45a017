import { expect } from 'chai';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cookiesOf } from '../lib/records/office.js';
import { makeClient, watch, type Answer } from '../lib/gateway/fixture.js';
import { Troupe } from '../lib/cli/troupe.js';

/**
 * A real gateway in a process of its own is given every secret there is, in right and in wrong places;
 * afterwards all that it wrote and said is searched for them: log, audit, database, second copy, frames,
 * answers, its own output.
 */
describe('red team: secrets as canaries', function () {
  this.timeout(180_000);
  let troupe: Troupe;
  before(async () => {
    troupe = await Troupe.create();
  });
  after(() => troupe.clear());

  it('are in the one file that is theirs, and nowhere else', async () => {
    const home = troupe.home();
    await troupe.run('config', 'check', '--home', home);
    const running = await troupe.start(home);
    const { port, token, secret: hook } = await troupe.announcement();
    await writeFile(join(home, 'config.yaml'), 'logging:\n  level: trace\n');
    const operator = makeClient(port, { authorization: `Bearer ${token}` });
    const socket = await watch(`ws://127.0.0.1:${port}/ws?since=0`, { authorization: `Bearer ${token}` });
    await socket.until(({ event }) => event === 'config:reloaded');
    const said: Answer[] = [];
    const secrets: Record<string, string> = { token, hook };

    // every secret that pairing makes; each is said once to the one who asked for it
    const anybody = makeClient(port, {});
    const challenge = async (): Promise<{ challengeId: string; nonce: string; path: string }> => {
      const { body } = await anybody.post('/api/auth/pairing-challenges');
      await writeFile(body.path, body.nonce, { mode: 0o600 });
      return body;
    };
    const first = await challenge();
    secrets['nonce'] = first.nonce;
    secrets['code'] = (
      await anybody.post('/api/auth/pairing-codes', { challengeId: first.challengeId })
    ).body.code;
    const paired = await anybody.post('/api/auth/pair', { code: secrets['code'] });
    secrets['cookie'] = /svc_auth=([\w-]{43})/.exec(cookiesOf(paired))?.[1] ?? '';
    secrets['grant'] = (
      await anybody.post('/api/auth/bootstrap-grants', { challengeId: (await challenge()).challengeId })
    ).body.grant;
    for (const [name, value] of Object.entries(secrets)) expect(value.length, name).to.be.greaterThan(10);

    // the same in all the wrong places
    for (const value of Object.values(secrets)) {
      const lost = makeClient(port, {
        authorization: `Bearer ${value}x`,
        cookie: `svc_auth=${value}; svc_device=d_0000000000000000`,
        'x-svc-bootstrap-grant': `${value}x`,
        'x-svc-session-capability': value,
        'x-svc-caller-session': 's1',
        'x-svc-tool-call': 'svc-mcp',
      });
      for (const path of ['/api/work-items', '/api/auth/devices', '/nothing'])
        said.push(await lost.get(path));
      said.push(
        await anybody.post('/api/auth/pair', { code: value.slice(0, 100) }),
        await anybody.post('/api/auth/bootstrap', {}, { 'x-svc-bootstrap-grant': `${value}x` }),
      );
      said.push(
        await anybody.get(`/api/status?token=${value}`),
        await operator.get(`/api/work-items?assignee=${value}x`).then((answer) => ({ ...answer, text: '' })),
      );
    }
    // and what works: an agent that is given a token of its own, a browser, a refusal, a fault
    said.push(
      await operator.post('/api/sessions', { prompt: 'add "milk"\nlist' }),
      await operator.get('/api/openapi.json'),
      await operator.get('/api/auth/devices'),
      await operator.get('/api/status'),
    );
    said.push(
      await makeClient(port, { cookie: cookiesOf(paired), origin: `http://127.0.0.1:${port}` }).post(
        '/api/work-items',
        { title: 'by a browser' },
      ),
    );
    for (const kind of ['session', 'pairing', 'pairing-code', 'home']) {
      said.push(await operator.get(`/api/inspect/actors?kind=${kind}`));
    }
    await socket.until(
      ({ event }) =>
        event === 'session:completed' || event === 'session:updated' || event === 'session:started',
    );
    const frames = JSON.stringify(socket.frames);
    socket.ws.terminate();
    await troupe.run('stop', '--home', home);
    const { out, err } = await running.ended;

    const found: string[] = [];
    const look = (where: string, text: string): void => {
      for (const [name, value] of Object.entries(secrets))
        if (text.includes(value)) found.push(`${name} in ${where}`);
    };
    for (const answer of said) look(`an answer ${answer.status}`, answer.text);
    look('the frames of /ws', frames);
    look('what the gateway printed', out + err);
    let bytes = 0;
    for (const name of await readdir(home, { recursive: true, encoding: 'utf8' })) {
      const path = join(home, name);
      if (name === 'gateway.json' || !(await stat(path)).isFile()) continue;
      const content = await readFile(path);
      bytes += content.length;
      look(name, content.toString('latin1'));
    }
    expect(bytes, 'something was written').to.be.greaterThan(10_000);
    expect(found).to.deep.equal([]);
    look('gateway.json', await readFile(join(home, 'gateway.json'), 'utf8'));
    expect(found, 'the search finds what is there').to.deep.equal([
      'token in gateway.json',
      'hook in gateway.json',
    ]);
  });
});
