import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, cp, mkdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fits, unfitPackage } from '../../../actors/optional-package.js';
import { clock } from '../../../lib/cli/machine-findings.js';
import { gatewayService, managerOf } from '../../../lib/cli/service/manager.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { root } from '../../house/sources.js';
import { Troupe } from './troupe.js';

const run = promisify(execFile);

interface Report {
  readonly findings: readonly {
    readonly grade: string;
    readonly about: string;
    readonly what: string;
    readonly remedy?: string;
    readonly fix?: string;
  }[];
  readonly fixed: readonly { readonly does: string; readonly fault: string | null }[];
}

describe('troupe doctor', () => {
  let troupe: Troupe;
  let home: string;
  before(async () => {
    troupe = await Troupe.create();
    home = troupe.home();
    const gateway = await troupe.start();
    await gateway.kill('SIGTERM');
  });
  after(() => troupe.clear());

  const doctor = async (...words: string[]): Promise<Report> =>
    JSON.parse((await troupe.run('doctor', '--home', home, '--json', ...words)).out) as Report;
  const about = ({ findings }: Report, name: string) => findings.filter((finding) => finding.about === name);
  const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

  it('takes rights from other users with --fix, and changes nothing without', async () => {
    const secrets = join(home, 'gateway.json');
    const member = join(home, 'org', 'lab', 'ann.yaml');
    await mkdir(dirname(member), { recursive: true });
    await writeFile(member, 'name: Ann\n');
    await chmod(member, 0o666);
    await chmod(secrets, 0o644);
    await chmod(home, 0o755);

    const before = await doctor();
    expect(about(before, 'secrets')).to.have.nested.property('[0].fix', `chmod 600 ${secrets}`);
    expect(about(before, 'home')).to.have.nested.property('[0].fix', `chmod 700 ${home}`);
    expect(about(before, 'rights')).to.have.nested.property('[0].what').that.includes(member);
    expect(before.fixed).to.deep.equal([]);
    expect([await mode(home), await mode(secrets), await mode(member)]).to.deep.equal([0o755, 0o644, 0o666]);

    const fixed = await doctor('--fix');
    expect(fixed.fixed.map(({ fault }) => fault)).to.deep.equal([null, null, null]);
    expect([await mode(home), await mode(secrets), await mode(member)]).to.deep.equal([0o700, 0o600, 0o644]);
    expect(about(fixed, 'secrets')).to.have.nested.property('[0].grade', 'good');
    expect(about(fixed, 'rights')).to.deep.equal([]);
  });

  // The key of Web Push is a secret of the home like the others, and came later than the check
  it('finds a key of notifications that others can read, and closes it', async () => {
    const key = layoutOf({ home }).pushKey;
    await writeFile(key, '{}', { mode: 0o644 });
    expect(about(await doctor(), 'browsers'))
      .to.have.nested.property('[0].what')
      .that.includes('push-key.json');
    expect((await doctor('--fix')).fixed).to.deep.equal([{ does: `chmod 600 ${key}`, fault: null }]);
    expect(await mode(key)).to.equal(0o600);
    await rm(key);
  });

  it('removes files of commands that were cut off a day ago, and nothing that is a way back', async () => {
    const [old, young] = [join(home, 'tmp', 'move-0badcafe'), join(home, 'tmp', 'migration-1')];
    const kept = join(home, 'before-migration');
    for (const folder of [old, young, kept]) await mkdir(folder, { recursive: true });
    await writeFile(join(kept, 'store.json'), '{}');
    await utimes(old, 1_000, 1_000);
    await utimes(kept, 1_000, 1_000);
    const report = await doctor('--fix');
    expect(report.fixed).to.deep.equal([{ does: `remove ${old}`, fault: null }]);
    expect(about(report, 'files')).to.have.nested.property('[0].what').that.includes('before-migration');
    await access(young);
    await access(join(kept, 'store.json'));
    expect(await access(old).catch((error: { code: string }) => error.code)).to.equal('ENOENT');
  });

  // A person must see what still works in their folders, and decide: nothing here ends a process
  it('names agents and sockets that a gateway left, and ends no process', async () => {
    if (process.platform !== 'linux') return;
    const { url } = await troupe.announcement();
    const agent = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6); console.log()'], {
      env: { SVC_SPAWN_ID: 'left', SVC_GATEWAY_URL: url },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const listening = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 9))`;
    const socket = join(home, 'run', 'worker-0badcafe');
    await mkdir(dirname(socket), { recursive: true });
    try {
      await once(agent.stdout, 'data');
      const [left] = about(await doctor('--fix'), 'processes');
      expect(left).to.include({ grade: 'poor' }).and.property('what').includes(String(agent.pid));
      expect(agent.exitCode ?? agent.signalCode).to.equal(null);
    } finally {
      const gone = once(agent, 'exit');
      agent.kill('SIGKILL');
      await gone;
    }
    await once(spawn(process.execPath, ['-e', listening, socket]), 'exit');
    expect(about(await doctor(), 'processes'))
      .to.have.nested.property('[0].fix')
      .that.includes('remove');
    expect((await doctor('--fix')).fixed).to.have.length(1);
    expect(about(await doctor(), 'processes')).to.have.nested.property('[0].what', 'none left over');
  });

  it('says that the clock is behind what the home has seen', async () => {
    const layout = layoutOf({ home });
    expect(await clock(layout)).to.include({ grade: 'good' });
    const { mtimeMs } = await stat(layout.announcement);
    const set = await clock(layout, mtimeMs - 3 * 3_600_000);
    expect(set).to.include({ grade: 'bad' }).and.property('what').includes('behind the newest file');
  });

  it('finds a service that starts a Node which is gone', async () => {
    const service = gatewayService(layoutOf({ home }), { PATH: '/usr/bin' });
    const manager = managerOf(process.platform, troupe.folder);
    if (manager === undefined) return;
    const file = manager.file(service);
    await mkdir(dirname(file), { recursive: true });
    const definition = (await troupe.run('service', 'install', '--print', '--home', home)).out;
    await writeFile(file, definition);
    expect(about(await doctor(), 'service')).to.have.nested.property('[0].grade', 'good');
    await writeFile(file, definition.replaceAll(process.execPath, '/opt/node-18/bin/node'));
    const [found] = about(await doctor(), 'service');
    expect(found).to.include({ grade: 'bad' }).and.property('what').includes('/opt/node-18/bin/node');
    expect(found?.remedy).to.include('service install');
  });

  // `npm install --global` takes the files from under a gateway that runs
  it('says that an upgrade has replaced the files of a gateway; what it lacks is refused in words', async () => {
    const [installed, taken] = [join(troupe.folder, 'installed'), troupe.home('taken')];
    await mkdir(join(installed, 'lib'), { recursive: true });
    for (const part of ['dist/command', 'lib/cli', 'package.json'])
      await cp(join(root, part), join(installed, part), { recursive: true });
    for (const part of ['dist/lib', 'node_modules']) await symlink(join(root, part), join(installed, part));
    const gateway = spawn(
      process.execPath,
      [join(installed, 'dist/command/troupe.js'), 'start', '--home', taken, '--port', '0'],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], HOME: troupe.folder } },
    );
    try {
      await new Promise<void>((resolve, reject) => {
        let said = '';
        const hear = (piece: unknown): void => {
          if (/Troupe runs at/.test((said += String(piece)))) resolve();
        };
        gateway.stdout.on('data', hear);
        gateway.stderr.on('data', hear);
        gateway.once('exit', () => reject(new Error(said)));
      });
      await rm(join(installed, 'dist/command'), { recursive: true });
      const manifest = join(installed, 'package.json');
      await writeFile(
        manifest,
        (await readFile(manifest, 'utf8')).replace(/"version": ".*?"/, '"version": "9.9.9"'),
      );
      const { url, token } = await troupe.announcement(taken);
      const called = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
      expect(await called.json()).to.include({ code: 'UPGRADED' });
      await cp(join(root, 'dist/command'), join(installed, 'dist/command'), { recursive: true });
      const words = ['status', '--home', taken];
      const { stdout } = await run(process.execPath, [join(installed, 'dist/command/troupe.js'), ...words]);
      expect(stdout).to.match(/upgrade +9\.9\.9 is installed; restart to run it: .*troupe stop/);
    } finally {
      const gone = once(gateway, 'exit');
      gateway.kill('SIGTERM');
      await gone;
    }
  });

  // What watches the gateway must not be what keeps it down
  it('and the start live with packages of OpenTelemetry that do not fit', async () => {
    const broken = join(troupe.folder, 'broken.mjs');
    const resolve =
      `export const resolve = (name, context, next) => name === '@opentelemetry/sdk-trace' ` +
      `? { url: 'data:text/javascript,export default 1', shortCircuit: true } : next(name, context)`;
    await writeFile(
      broken,
      `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(resolve)}`)});`,
    );
    await writeFile(join(home, 'config.yaml'), 'telemetry:\n  to: http://127.0.0.1:9\n');
    const gateway = troupe.begin(
      { NODE_OPTIONS: `--import=${broken}` },
      ...['start', '--home', home, '--port', '0'],
    );
    await gateway.seen(/Troupe runs at/);
    await gateway.kill('SIGTERM');
    const log = await readFile(join(home, 'logs', 'gateway.log'), 'utf8');
    expect(log).to.match(/"install":"npm install[^\n]*sdk-trace[^\n]*no telemetry is sent/);
  });

  it('knows a package of another version than Troupe is made for', async () => {
    await writeFile(
      join(troupe.folder, 'package.json'),
      JSON.stringify({ peerDependencies: { '@opentelemetry/resources': '^1.30.0' } }),
    );
    expect(unfitPackage('@opentelemetry/resources', troupe.folder)).to.match(
      /^is 2\.\S+, and \^1\.30\.0 is needed$/,
    );
    expect(unfitPackage('@opentelemetry/resources')).to.equal(undefined);
    expect(unfitPackage('no-such-package')).to.equal('is missing');
    const all = (version: string) =>
      ['^1.2.3', '~1.2.3', '1.2.3', '^0.2.3'].map((range) => fits(version, range));
    expect(all('1.2.3')).to.deep.equal([true, true, true, false]);
    expect(all('1.2.4')).to.deep.equal([true, true, false, false]);
    expect(all('1.3.0')).to.deep.equal([true, false, false, false]);
    expect(all('2.0.0')).to.deep.equal([false, false, false, false]);
    expect(all('0.2.4')).to.deep.equal([false, false, false, true]);
    expect(all('0.3.0')).to.deep.equal([false, false, false, false]);
  });
});
