import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnnouncement } from '../../lib/home/announce.js';
import { layoutOf } from '../../lib/home/layout.js';
import { startInstance } from '../../lib/instance.js';
import { monthOf } from '../../machines/budget/machine.js';
import { makeClient, type Client } from '../lib/gateway/fixture.js';

/** What clients of this API ask a whole home: settings, first steps, and to be let go. */
describe('clients of this API, the home', () => {
  const layout = layoutOf({ home: join(tmpdir(), 'unused') });
  let home: typeof layout;
  let operator: Client;
  let anonymous: Client;
  let close: () => Promise<void>;
  const text = [
    '# how we are called',
    'portal:',
    '  portalName: The Yard # on the gate',
    'sessions:',
    '#  turnDeadlineMinutes: 5',
    'engines:',
    '  claude: {model: opus}',
    '  llama: {command: [ollama, run, llama]}',
    '',
  ].join('\n');
  beforeEach(async () => {
    home = layoutOf({ home: await mkdtemp(join(tmpdir(), 'clients-home-')) });
    await writeFile(home.config, text);
    await mkdir(join(home.org, 'build'), { recursive: true });
    await writeFile(join(home.org, 'build', 'ann.yaml'), 'rank: employee\n');
    const served = await startInstance({ layout: home, port: 0 });
    const announcement = await readAnnouncement(home.announcement);
    const port = Number(announcement?.port);
    operator = makeClient(port, { authorization: `Bearer ${String(announcement?.token)}` });
    anonymous = makeClient(port, {});
    close = () => served.close();
  });
  afterEach(async () => {
    await close();
    await rm(home.home, { recursive: true, force: true });
  });
  const put = (body: unknown) => operator.call('PUT', '/api/config', body);
  const written = () => readFile(home.config, 'utf8');

  it('answers what a first-run dialogue asks', async () => {
    const { body } = await operator.get('/api/onboarding');
    expect(body).to.include.all.keys(
      'needed',
      'onboarded',
      'sessionsCount',
      'hasEmployees',
      'portalName',
      'companyName',
      'companyPrefix',
      'operatorName',
      'language',
    );
  });

  it('lets a browser go whatever the body is', async () => {
    for (const body of ['', 'not json', [1], { all: true }, undefined])
      expect((await operator.call('POST', '/api/auth/logout', body)).status).to.equal(200);
    expect((await anonymous.call('POST', '/api/auth/logout', '{')).headers['set-cookie']).to.have.lengthOf(2);
  });

  describe('PUT /api/config', () => {
    it('writes what differs from what was shown, and keeps comments and order', async () => {
      const { body: shown } = await operator.get('/api/config');
      const { status, body } = await put({
        ...shown,
        portal: { ...shown.portal, portalName: 'The Mill', companyName: 'Acme' },
        sessions: { ...shown.sessions, turnDeadlineMinutes: 30 },
        engines: { ...shown.engines, claude: { model: 'sonnet' } },
      });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.changed).to.have.members([
        'portal.portalName',
        'portal.companyName',
        'sessions.turnDeadlineMinutes',
        'engines.claude.model',
      ]);
      expect(body.needsRestart).to.have.members(['portal.portalName', 'engines.claude.model']);
      expect(body.config.portal.companyName, 'taken over at once').to.equal('Acme');
      const now = await written();
      expect(now).to.include('# how we are called').and.include('portalName: The Mill # on the gate');
      expect(now).to.include('turnDeadlineMinutes: 30').and.include('model: sonnet');
      expect(now).to.match(/llama: *\{ *command: \[ *ollama, run, llama *\] *\}/);
      expect((await put(body.config)).status, 'with what holds until the restart').to.equal(200);
      expect((await put({ portal: { companyName: null } })).body.config.portal.companyName).to.equal('');
    });

    // Months of budgets began by UTC, times of jobs by the zone of the machine, and pages had the browser's alone
    it('names the time zone of the company, which holds at once for pages, cron jobs and budgets', async () => {
      const timeZone = 'Pacific/Kiritimati'; // no machine stands there, and its months begin first of all
      expect((await operator.get('/api/inspect/fleet')).body.timeZone).to.equal(null);
      expect((await put({ portal: { timeZone: 'Mars/Olympus' } })).status).to.equal(400);
      expect((await put({ portal: { timeZone } })).status).to.equal(200);
      expect((await operator.get('/api/inspect/fleet')).body.timeZone).to.equal(timeZone);
      const job = await operator.post('/api/cron', { name: 'Tea', schedule: '0 9 * * *', prompt: 'Tea' });
      expect(new Date(job.body.nextRunAt).getUTCHours(), job.text).to.equal(19);
      const granted = await operator.post('/api/org/employees/ann/budget', { usd: 1 });
      expect(granted.body.month).to.equal(monthOf(Date.now(), timeZone).month);
      const { body: account } = await operator.get('/api/inspect/actors/budget/ann');
      expect(account.context.timeZone).to.equal(timeZone);
      expect((await put({ portal: { timeZone: null } })).status).to.equal(200);
      expect((await operator.get('/api/inspect/fleet')).body.timeZone).to.equal(null);
    });

    it('refuses what runs programs or loosens a wall, names the file, and writes nothing', async () => {
      const kept: readonly object[] = [
        { modules: ['/tmp/evil.mjs'] },
        { engines: { llama: { command: ['sh', '-c', 'id'] } } },
        { engines: { evil: { command: ['sh'] } } },
        { engines: { claude: { bin: '/tmp/evil' } } },
        { engines: { claude: { apiKeyEnv: 'SECRET' } } },
        { engines: { claude: { baseUrl: 'http://evil.example' } } },
        { engines: { claude: { env: { model: 'x' } } } },
        { engines: { claude: { env: { model: true } } } },
        { engines: { acp: { evil: { env: { model: 'x' } } } } },
        { 'portal.companyName': 'x' },
        { 'engines.llama.command': ['sh'] },
        { engines: { 'claude.bin': '/tmp/evil' } },
        { engines: { constructor: { prototype: 'x' } } },
        { engines: null },
        { agents: null },
        { engines: { llama: null } },
        { notify: { command: ['sh'] } },
        { notify: { command: null } },
        { notify: { to: ['slack/C1'] } },
        { agents: { worker: false } },
        { agents: { resume: true } },
        { agents: { quotas: { sessions: { hour: 1e6 } } } },
        { backup: { folder: '/tmp/evil' } },
        { agents: { sandbox: 'off' } },
        { agents: { sandboxRequired: true } },
        { agents: { sandboxHosts: ['evil.example'] } },
        { agents: { token: 'operator' } },
        { gateway: { authRequired: false } },
        { gateway: { plainHttp: true } },
        { gateway: { host: '0.0.0.0' } },
        { gateway: { allowedHosts: ['evil.example'] } },
        { gateway: { allowedOrigins: ['http://evil.example'] } },
        { gateway: { allowFileCustomPaths: true } },
        { gateway: { allowFileOpen: true } },
        { gateway: { tls: { cert: 'a', key: 'b' } } },
        { sessions: { roots: ['/'] } },
        { sessions: { cwd: '/' } },
        { sessions: { permissionWaitMinutes: 1 } },
        { budgets: { enforce: true } },
        { log: { keepDays: 1 } },
        { logging: { file: false } },
        { portal: { root: 'ann' } },
        { connectors: { instances: [{ name: 'x', type: 'webhook' }] } },
        { portal: { portalName: 'Fine' }, modules: ['/tmp/evil.mjs'] },
      ];
      for (const body of kept) {
        const answer = await put(body);
        expect([answer.status, answer.body.code], JSON.stringify(body)).to.deep.equal([403, 'FORBIDDEN']);
        expect(answer.body.file).to.equal('config.yaml');
        expect(answer.body.error).to.include(answer.body.key).and.include('config.yaml');
      }
      for (const name of ['portal', 'engines', '__proto__']) {
        const body: unknown = JSON.parse(`{"${name}": {"__proto__": {"companyName": "x", "model": "x"}}}`);
        expect((await put(body)).body.changed ?? [], name).to.deep.equal([]);
      }
      expect(await written()).to.equal(text);
    });

    it('changes no setting by another that shares its value, and none that it cannot read', async () => {
      const model = { engines: { claude: { model: 'sonnet' } } };
      for (const [before, status] of [
        ['x: &all {model: opus}\nengines:\n  claude: *all\n', 400], // x is no setting
        ['engines:\n  claude: &all {model: opus}\n  codex: *all\n', 409],
        ['engines:\n  codex: &all {model: opus}\n  claude: {<<: *all}\n', 400],
        ['engines:\n  claude: !!omap [model: opus]\n', 400],
        ['engines:\n  claude: !secret {model: opus}\n', 400],
        ['engines:\n  claude: {model: opus}\n  claude: {model: other}\n', 400],
        ['engines:\n  claude: {model: opus}\n---\nengines: {}\n', 400],
        ['? [engines]\n: {claude: {model: opus}}\n', 400],
        ['engines:\n  ? {claude: x}\n  : {model: opus}\n', 400],
      ] as const) {
        await writeFile(home.config, before);
        expect((await put(model)).status, before).to.equal(status);
        expect(await written()).to.equal(before);
      }
    });

    it('refuses values that the schema does not take, and writes nothing', async () => {
      for (const body of [
        { portal: { companyPrefix: 'far too long' } },
        { sessions: { turnDeadlineMinutes: 'soon' } },
        { engines: { claude: { model: '' } } },
        { engines: { anonymous: { model: 'x' } } },
        { logging: { level: { deep: true } } },
        ['not', 'settings'],
      ])
        expect((await put(body)).status, JSON.stringify(body)).to.be.oneOf([400, 403]);
      expect(await written()).to.equal(text);
    });

    it('is for people alone', async () => {
      expect((await anonymous.call('PUT', '/api/config', {})).status).to.equal(401);
    });
  });
});
