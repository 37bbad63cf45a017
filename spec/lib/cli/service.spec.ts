import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { access, chmod, copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { layoutOf } from '../../../lib/home/layout.js';
import { launchd } from '../../../lib/cli/service/launchd.js';
import { gatewayService } from '../../../lib/cli/service/manager.js';
import { programRemoval } from '../../../lib/cli/uninstall.js';
import { systemd } from '../../../lib/cli/service/systemd.js';
import { poll } from '../gateway/fixture.js';
import { Troupe } from './troupe.js';

/**
 * The gateway as a service of the system's own supervisor. A user's systemd runs on no test machine, so its
 * commands are stood in for by a program that notes how it was called; systemd's own checker judges the unit
 * wherever it is installed.
 */
describe('troupe service', () => {
  let troupe: Troupe;
  beforeEach(async () => {
    troupe = await Troupe.create();
  });
  afterEach(() => troupe.clear());
  const at = (...words: string[]): string[] => [...words, '--home', troupe.home()];

  /** Programs of these names that note their arguments, one line a call, and end with a code. */
  async function standIns(code: number, ...names: string[]): Promise<{ path: string; calls: string }> {
    return saying('no user manager', code, ...names);
  }
  async function saying(
    said: string,
    code: number,
    ...names: string[]
  ): Promise<{ path: string; calls: string }> {
    const path = join(troupe.folder, 'bin');
    const calls = join(troupe.folder, 'calls');
    await mkdir(path, { recursive: true });
    for (const name of names) {
      const text = `#!/bin/sh\necho "${name} $*" >> '${calls}'\necho '${said}' >&2\nexit ${code}\n`;
      await writeFile(join(path, name), text);
      await chmod(join(path, name), 0o755);
    }
    return { path: `${path}:${process.env['PATH'] ?? ''}`, calls };
  }

  const unitFile = async (): Promise<string> => {
    const { name } = gatewayService(layoutOf({ home: troupe.home() }), {});
    return join(troupe.folder, '.config/systemd/user', `${name}.service`);
  };

  if (process.platform === 'linux') {
    it('installs a unit that starts this installation for this home, and removes nothing but it', async () => {
      const { path, calls } = await standIns(0, 'systemctl');
      const installed = await troupe.begin({ PATH: path }, ...at('service', 'install')).ended;
      expect(installed).to.include({ code: 0 });
      expect(installed.out).to.match(/runs as troupe-[0-9a-f]{8} and starts at login/);
      const unit = await readFile(await unitFile(), 'utf8');
      expect(unit).to.include(` start --home ${troupe.home()}\n`).and.include('WatchdogSec=60');
      expect(unit, 'the tools of this terminal').to.include(`PATH=${path}`);
      const names = (await readFile(calls, 'utf8')).trim().split('\n');
      expect(names.map((line) => line.replace(/troupe-\w+/, 'X'))).to.deep.equal([
        'systemctl --user daemon-reload',
        'systemctl --user enable X.service',
        'systemctl --user restart X.service',
      ]);

      const removed = await troupe.begin({ PATH: path }, ...at('service', 'uninstall')).ended;
      expect(removed).to.include({ code: 0 });
      expect(removed.out).to.include('everything in it stays');
      await access(await unitFile()).then(
        () => expect.fail('the unit is still there'),
        () => undefined,
      );
    });

    it('says what failed, where there is no manager to talk to, and where nothing is installed', async () => {
      const none = await troupe.run(...at('service', 'status'));
      expect(none).to.include({ code: 1 });
      expect(none.err).to.match(
        /^No service is installed for this home\. Install it: troupe service install/,
      );
      const { path } = await standIns(1, 'systemctl');
      const failed = await troupe.begin({ PATH: path }, ...at('service', 'install')).ended;
      expect(failed).to.include({ code: 1 });
      expect(failed.err).to.include('"systemctl --user daemon-reload" failed: no user manager');
    });

    // In a container and after su it left a unit behind, which nothing started and `uninstall` could not remove
    it('leaves no unit where the systemd of the user cannot be reached, and removes one that is there', async () => {
      const { path } = await saying('Failed to connect to bus: No medium found', 1, 'systemctl');
      const failed = await troupe.begin({ PATH: path }, ...at('service', 'install')).ended;
      expect(failed).to.include({ code: 1, out: '' });
      expect(failed.err).to.match(
        /^The systemd of your user cannot be reached .* Log in .*: troupe start\n$/,
      );
      const unit = await unitFile();
      const isThere = (): Promise<boolean> =>
        access(unit).then(
          () => true,
          () => false,
        );
      expect(await isThere()).to.equal(false);
      // folders that nothing is in were left there by every try
      expect(await readdir(dirname(dirname(dirname(unit))))).to.not.include('systemd');
      await mkdir(dirname(unit), { recursive: true });
      await writeFile(unit, 'of a login before\n');
      await troupe.begin({ PATH: path }, ...at('service', 'install')).ended;
      expect(await isThere(), 'an installed service stays').to.equal(true);
      const removed = await troupe.begin({ PATH: path }, ...at('service', 'uninstall')).ended;
      expect(removed).to.include({ code: 0 });
      expect(removed.err).to.match(/^systemd cannot be reached: .* Stop it: troupe stop --home /);
      expect(await isThere()).to.equal(false);
    });

    // An image without systemctl: `install` left its unit there, and `uninstall` failed for want of the program
    it('leaves nothing where systemctl is not installed, and removes what is there', async () => {
      const env = { PATH: troupe.folder };
      const failed = await troupe.begin(env, ...at('service', 'install')).ended;
      expect(failed.err).to.match(/^The systemd of your user cannot be reached/);
      const unit = await unitFile();
      const wants = join(unit, '../default.target.wants');
      const folders = dirname(dirname(dirname(unit)));
      expect(await readdir(folders)).to.not.include('systemd');
      await mkdir(wants, { recursive: true });
      await writeFile(unit, 'of a login before\n');
      await symlink(unit, join(wants, basename(unit)));
      const removed = await troupe.begin(env, ...at('service', 'uninstall')).ended;
      expect(removed).to.include({ code: 0 });
      expect(await readdir(folders), 'a link to nothing').to.not.include('systemd');
    });

    it('tells systemd that it answers, that it is alive, and that it stops', async () => {
      const { path, calls } = await standIns(0, 'systemd-notify');
      const gateway = troupe.begin(
        { PATH: path, NOTIFY_SOCKET: '/run/none', WATCHDOG_USEC: '3000000' },
        ...at('start', '--port', '0'),
      );
      await gateway.seen(/Troupe runs at/);
      await poll(
        () => readFile(calls, 'utf8').catch(() => ''),
        (text) => text.includes('WATCHDOG=1'),
      );
      await gateway.kill('SIGTERM');
      const lines = (await readFile(calls, 'utf8')).trim().split('\n');
      expect(lines[0]).to.equal('systemd-notify --ready');
      expect(lines).to.include('systemd-notify WATCHDOG=1');
      expect(lines.at(-1)).to.equal('systemd-notify STOPPING=1');
    });
  } else {
    it('is tested with systemd on Linux alone', () => undefined);
  }

  it('writes units that systemd understands, whatever the home is called', async () => {
    const checker = spawnSync('systemd-analyze', ['--version']);
    if (checker.error !== undefined)
      return console.log('      (systemd-analyze is not installed: the unit is not checked here)');
    const home = join(troupe.folder, `a 100% "odd" $HOME's`);
    const service = gatewayService(layoutOf({ home }), { PATH: '/usr/bin:/opt/my tools' });
    const file = join(troupe.folder, 'troupe-spec.service');
    await writeFile(file, systemd(troupe.folder).definition(service));
    const { stderr } = spawnSync('systemd-analyze', ['--user', 'verify', file], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line.includes('troupe-spec'))).to.deep.equal([]);
  });

  it('writes agents for launchd in which nothing of a path is markup', () => {
    const service = gatewayService(layoutOf({ home: '/tmp/<a>&b' }), {});
    const text = launchd('/tmp').definition(service);
    expect(text).to.include('<string>/tmp/&lt;a&gt;&amp;b</string>').and.not.include('<a>');
  });

  it('says how it is removed and what stays', async () => {
    await troupe.start().then((gateway) => gateway.kill('SIGTERM'));
    const { code, out } = await troupe.run(...at('uninstall'));
    expect(code).to.equal(0);
    expect(out).to.include(`These homes stay, with all work and all secrets in them:\n  ${troupe.home()}\n`);
    expect(out).to.include('Backups made by hand').and.not.include('backups of');
  });

  // They stayed, and nothing named them
  it('names the optional packages that were installed beside it', async () => {
    const modules = join(troupe.folder, 'lib/node_modules');
    const root = `${modules}/troupe/`;
    for (const name of ['troupe', 'aws4fetch', '@opentelemetry/api', 'of-others'])
      await mkdir(join(modules, name), { recursive: true });
    await copyFile('package.json', join(root, 'package.json'));
    expect(await programRemoval(root)).to.deep.equal([
      'npm uninstall --global troupe',
      'npm uninstall --global @opentelemetry/api aws4fetch   (optional packages, if nothing else needs them)',
    ]);
  });

  // What a person takes for gone would still hold every secret
  it('says where backups of the schedule stay, also those of a place that is not set any more', async () => {
    const layout = layoutOf({ home: troupe.home() });
    const record = { id: '0badcafe', to: '/mnt/old', madeAt: 1, kept: [], failed: null };
    await mkdir(join(layout.home, 'store'), { recursive: true });
    await writeFile(join(layout.home, 'backups.json'), JSON.stringify(record));
    await writeFile(layout.config, 'backup: { to: "s3://bucket/troupe" }\n');
    const { out } = await troupe.run(...at('uninstall'));
    for (const place of ['/mnt/old', 's3://bucket/troupe'])
      expect(out).to.include(`  backups of ${layout.home}: ${place}\n`);
  });
});
