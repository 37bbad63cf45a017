import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { selfSigned } from '../../fixtures/certificate.js';
import { watch, makeClient } from '../gateway/fixture.js';
import { Troupe } from './troupe.js';

describe('troupe config', () => {
  let troupe: Troupe;
  const write = async (text: string): Promise<void> => {
    await mkdir(troupe.home(), { recursive: true });
    await writeFile(join(troupe.home(), 'config.yaml'), text);
  };
  const check = (): ReturnType<Troupe['run']> => troupe.run('config', 'check', '--home', troupe.home());
  before(async () => {
    troupe = await Troupe.create();
  });
  after(() => troupe.clear());

  it('check says that the defaults apply, or that the file is sound', async () => {
    expect((await check()).out).to.match(/the defaults apply/);
    await write('gateway:\n  port: 0\n');
    expect(await check()).to.deep.include({
      code: 0,
      out: `${join(troupe.home(), 'config.yaml')} is valid.\n`,
    });
  });

  it('check names line and key of every fault, and what does not go together', async () => {
    const faults: readonly (readonly [string, RegExp])[] = [
      ['gateway:\n  prot: 1\n', /config\.yaml:2, gateway\.prot: unknown setting; did you mean "port"/],
      // It was taken, and ids began with ACM all the same
      ['portal:\n  companyPrefix: ACME\n', /portal\.companyPrefix.*three letters/],
      ['gateway:\n  port: 1\nlog:\n  keepDays: -1\n', /config\.yaml:4, log\.keepDays/],
      ['engines:\n  default: llama\n', /engines\.default: unknown engine "llama"/],
      [
        'gateway:\n  host: 0.0.0.0\n  authRequired: false\n',
        /gateway\.authRequired: false requires a loopback address/,
      ],
      ['gateway:\n  host: 0.0.0.0\n', /without TLS the token can be read/],
      ['gateway:\n  tls: {cert: a.pem, key: b.pem}\n', /gateway\.tls\.cert: a\.pem cannot be read/],
    ];
    for (const [text, fault] of faults) {
      await write(text);
      const { code, err } = await check();
      expect(code, text).to.equal(5);
      expect(err).to.match(fault);
    }
  });

  it('check shows all faults at once, of connectors too, in their order, also of a file beside the home', async () => {
    const file = join(troupe.folder, 'other.yaml');
    await writeFile(
      file,
      'gateway:\n  prot: 1\nengines:\n  default: llama\nconnectors:\n  instances:\n' +
        '    - {name: team, type: slack, botTokn: x}\n    - {name: hook, type: webhok}\n',
    );
    const { code, err } = await troupe.run('config', 'check', file, '--home', troupe.home('none'));
    expect(code).to.equal(5);
    expect(
      err
        .trim()
        .split('\n')
        .map((line) => line.replace(file, 'F')),
    ).to.deep.equal([
      'F:2, gateway.prot: unknown setting; did you mean "port"?',
      'F:4, engines.default: unknown engine "llama". Available: claude, codex, gemini, qwen, opencode, copilot, clerk.',
      'F:7, connectors.instances.0.botToken: must be a text, {env: NAME} or {file: PATH}.',
      'F:7, connectors.instances.0.botTokn: unknown setting; did you mean "botToken"?',
      'F:8, connectors.instances.1.type: unknown type "webhok"; did you mean "webhook"?',
    ]);
    const json = await troupe.run('config', 'check', file, '--json', '--home', troupe.home('none'));
    expect(json.code).to.equal(5);
    expect(
      (JSON.parse(json.out) as { faults: { line: number }[] }).faults.map(({ line }) => line),
    ).to.deep.equal([2, 4, 7, 7, 8]);
    const absent = await troupe.run('config', 'check', join(troupe.folder, 'absent.yaml'));
    expect([absent.code, /does not exist/.test(absent.err)]).to.deep.equal([5, true]);
  });

  it('keys lists every key of gateway, engines and connector types, with type, default and when it holds', async () => {
    const { code, out } = await troupe.run('config', 'keys');
    expect(code).to.equal(0);
    expect(out)
      .to.match(/^gateway\.port: 7420 {2}\(integer 0 to 65535; holds after a restart\)\n {4}TCP port; /m)
      .and.match(
        /^sessions\.roots: \[\] {2}\(list of text; holds at once\)\n {4}[^\n]+working folders of sessions\.$/m,
      );
    for (const key of [
      'engines.claude.env',
      'engines.gemini.allow',
      'engines.<name>.command',
      'engines.acp.<name>.maxProcesses',
      'engines.openai.<name>.pricesUsdPerMillionTokens.input',
      'connectors.instances[slack].botToken',
      'connectors.instances[].allowFrom',
      'gateway.tls.cert',
      'agents.quotas.bytes.hour',
    ])
      expect(
        out.split('\n').some((line) => line.startsWith(`${key}: `)),
        key,
      ).to.equal(true);
    const some = await troupe.run('config', 'keys', 'engines.claude', '--json');
    const keys = JSON.parse(some.out) as { key: string }[];
    expect(keys.map(({ key }) => key)).to.include('engines.claude.apiKeyEnv');
    expect(keys.every(({ key }) => key.startsWith('engines.claude.'))).to.equal(true);
    expect((await troupe.run('config', 'keys', 'nothing')).code).to.equal(2);
  });

  it('is taken over by a running gateway where it can be, and told to watchers', async () => {
    await write('gateway:\n  port: 0\n');
    await troupe.start();
    const { port, token } = await troupe.announcement();
    const bearer = { authorization: `Bearer ${token}` };
    const socket = await watch(`ws://127.0.0.1:${port}/ws`, bearer);
    const named = makeClient(port, { ...bearer, host: 'console.example' });
    expect((await named.get('/api/work-items')).status).to.equal(403);
    await write('gateway:\n  port: 1\n  allowedHosts: [console.example]\n');
    const told = await socket.until(({ event }) => event === 'config:reloaded');
    expect(told.payload).to.deep.equal({
      applied: ['gateway.allowedHosts'],
      needsRestart: ['gateway.port'],
      needsReload: [],
    });
    expect((await named.get('/api/work-items')).status).to.equal(200);
    await write('gateway: {{');
    expect((await socket.until(({ event }) => event === 'config:refused')).payload.reason).to.match(
      /config\.yaml:1/,
    );
    expect((await named.get('/api/work-items')).status, 'the last sound settings hold').to.equal(200);
    socket.ws.terminate();
    expect((await troupe.run('stop', '--home', troupe.home())).code).to.equal(0);
  });

  it('serves over TLS where it says so, while the command line goes on as before', async () => {
    const { cert, key } = selfSigned();
    await writeFile(join(troupe.home(), 'cert.pem'), cert);
    await writeFile(join(troupe.home(), 'key.pem'), key, { mode: 0o600 });
    await write('gateway:\n  port: 0\n  tls: {cert: cert.pem, key: key.pem}\n');
    await troupe.start();
    const { url, publicUrl } = await troupe.announcement();
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:/);
    expect(publicUrl).to.match(/^https:/);
    expect((await troupe.run('run', 'add "milk"', '--home', troupe.home())).code).to.equal(0);
    const { out } = await troupe.run('pair', '--json', '--home', troupe.home());
    expect(JSON.parse(out).links[0]).to.match(/^http/);
  });

  it('is refused at start where it opens the network without credentials', async () => {
    const home = troupe.home('open');
    await mkdir(home);
    await writeFile(
      join(home, 'config.yaml'),
      'gateway:\n  port: 0\n  authRequired: false\n  host: 0.0.0.0\n',
    );
    const { code, err } = await troupe.run('start', '--home', home);
    expect([code, /authRequired/.test(err)], err).to.deep.equal([5, true]);
  });
});
