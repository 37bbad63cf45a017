import { expect } from 'chai';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { verdict } from '../../../lib/gateway/authorization.js';
import { readAnnouncement } from '../../../lib/home/announce.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { logTail } from '../../../lib/home/log-tail.js';
import { startInstance } from '../../../lib/instance.js';
import { makeClient } from './fixture.js';

/**
 * Consoles written for this API ask for these before they show anything: a 404 leaves them at a blank page.
 */
describe('what consoles ask for when they open', () => {
  async function openHome(config: string) {
    const layout = layoutOf({ home: await mkdtemp(join(tmpdir(), 'console-')) });
    await writeFile(layout.config, config);
    const served = await startInstance({ layout, port: 0 });
    const announcement = await readAnnouncement(layout.announcement);
    const port = Number(announcement?.port);
    return {
      layout,
      port,
      operator: makeClient(port, { authorization: `Bearer ${String(announcement?.token)}` }),
      anybody: makeClient(port, {}),
      async close() {
        await served.close();
        await rm(layout.home, { recursive: true, force: true });
      },
    };
  }
  let home: Awaited<ReturnType<typeof openHome>>;
  afterEach(() => home.close());

  it('lets them go on: nothing is due, and what is not here is said to be absent', async () => {
    home = await openHome('portal: {portalName: The Yard}\n');
    const body = async (path: string) => (await home.operator.get(path)).body;
    expect(await body('/api/onboarding')).to.deep.equal({
      needed: false,
      onboarded: true,
      sessionsCount: 0,
      hasEmployees: false,
      portalName: 'The Yard',
      companyName: null,
      companyPrefix: null,
      operatorName: null,
      language: null,
    });
    expect(await body('/api/instance-migration')).to.deep.equal({
      required: false,
      fromVersion: null,
      toVersion: null,
      versions: [],
    });
    expect(Object.values((await body('/api/features')) as object).every((there) => there === false)).to.equal(
      true,
    );
    expect(await body('/api/stt/status')).to.include({ available: false, downloading: false });
    expect(await body('/api/instances')).to.deep.equal([
      { name: 'default', host: '127.0.0.1', port: home.port, running: true, current: true },
    ]);
    for (const path of [
      'onboarding',
      'instance-migration',
      'features',
      'stt/status',
      'instances',
      'config',
      'logs',
    ])
      expect((await home.anybody.get(`/api/${path}`)).status, path).to.equal(401);
    expect([
      verdict('console.read', 'outsider'),
      verdict('config.read', 'self'),
      verdict('logs.read', 'self'),
    ]).to.deep.equal(['yes', 'FORBIDDEN', 'FORBIDDEN']);
  });

  it('shows the settings as they are now, and nothing that may be a secret, whatever it is called', async () => {
    home = await openHome(
      [
        'gateway: {authRequired: false}', // reads are open to this machine, but not these
        'engines:',
        '  llama: {command: [ollama, run, "hidden-1"]}',
        '  claude: {model: opus, baseUrl: "https://hidden-2.example/v1"}',
        '  acp:',
        '    goose: {command: goose, model: big, env: {X: hidden-3}}',
        'connectors:',
        '  instances:',
        '    - {name: team, type: webhook, url: "http://127.0.0.1:1/hidden-4", secret: hidden-5 hidden-5 hidden-5, employee: ann, allowFrom: [U1]}',
        '',
      ].join('\n'),
    );
    const { status, body, text } = await home.operator.get('/api/config');
    expect([status, body.sessions.turnDeadlineMinutes, body.gateway.authRequired]).to.deep.equal([
      200,
      60,
      false,
    ]);
    expect(body.engines).to.deep.include({
      default: 'clerk',
      llama: {},
      claude: { model: 'opus' },
      acp: { goose: { model: 'big' } },
    });
    expect(body.connectors).to.deep.equal({
      instances: [{ name: 'team', type: 'webhook', employee: 'ann', allowFrom: ['U1'] }],
    });
    expect(text).to.not.include('hidden');
    for (const path of ['/api/config', '/api/logs'])
      expect((await home.anybody.get(path)).status, path).to.equal(401);
  });

  it('shows the newest lines of the log, whole ones, from the end of a long one', async () => {
    home = await openHome('');
    const { body } = await home.operator.get('/api/logs?n=1');
    expect(body.lines).to.have.lengthOf(1);
    expect(JSON.parse(body.lines[0])).to.have.property('msg');
    expect((await home.operator.get('/api/logs?n=0')).status).to.equal(400);
    const long = join(home.layout.logs, 'long.log');
    expect(await logTail(long, 3)).to.deep.equal([]);
    await mkdir(dirname(long), { recursive: true });
    await writeFile(long, `${'ä'.repeat(700_000)}\n`);
    expect(await logTail(long, 3), 'a line longer than what is read is not shown in part').to.deep.equal([]);
    await appendFile(long, 'one\ntwo\nthree\nhalf');
    expect(await logTail(long, 2)).to.deep.equal(['two', 'three']);
    expect(await logTail(long, 9)).to.deep.equal(['one', 'two', 'three']);
  });
});
