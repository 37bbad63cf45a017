import { expect } from 'chai';
import {
  chmod,
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance } from '../../../lib/instance.js';

/**
 * Homes made beforehand with a generous umask: the one who may write in the folder could put a gateway.json or a
 * config.yaml of their own there.
 */
describe('serve, of a home that is open to others', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'troupe-open-'));
  });
  afterEach(() => rm(home, { recursive: true }));
  const modeOf = async (name: string): Promise<string> =>
    ((await stat(join(home, name))).mode & 0o777).toString(8);

  it('takes the right to write from others, and leaves them what they may read', async () => {
    await chmod(home, 0o777);
    await writeFile(join(home, 'config.yaml'), 'gateway: {port: 0}\n');
    await chmod(join(home, 'config.yaml'), 0o666);
    await (await startInstance({ home })).close();
    expect([await modeOf('.'), await modeOf('config.yaml')]).to.deep.equal(['755', '644']);
    expect(await readFile(join(home, 'logs/gateway.log'), 'utf8')).to.include(
      'removed write permission for group and others',
    );
  });

  // Employees say what is run, and how far it is confined
  it('takes the right to write to employees and skills', async () => {
    await chmod(home, 0o755);
    const names = [
      'org',
      'org/desk',
      'org/desk/ann.yaml',
      'skills',
      'skills/a',
      'skills/a/b',
      'skills/a/b/c.sh',
    ];
    for (const name of names)
      if (name.includes('.')) await writeFile(join(home, name), 'persona: x\n');
      else await mkdir(join(home, name));
    for (const name of names) await chmod(join(home, name), 0o777);
    await (await startInstance({ home, port: 0 })).close();
    expect(await Promise.all(names.map(modeOf))).to.deep.equal(names.map(() => '755'));
  });

  // In a home that was open for a moment: its owner may write the settings again whenever a gateway runs
  it('refuses what another user has put there', async () => {
    if (process.getuid?.() !== 0) return; // only root can make files of another
    await mkdir(join(home, 'org/desk'), { recursive: true });
    const file = join(home, 'org/desk/ann.yaml');
    const link = join(home, 'skills');
    const planted = join(home, 'run');
    await mkdir(planted);
    await writeFile(file, 'persona: x\n');
    await symlink('/tmp', link);
    await chown(planted, 65_534, 65_534);
    const starting = (): Promise<unknown> =>
      startInstance({ home, port: 0 }).then(
        (instance) => instance.close(),
        (fault: Error) => fault,
      );
    expect(await starting()).to.include({ code: 'BAD_HOME' });
    expect(String(await starting())).to.include(`${planted} belongs to another user`);
    await chown(planted, 0, 0);
    for (const path of [file, link]) {
      await lchown(path, 65_534, 65_534);
      expect(String(await starting())).to.include(`${path} belongs to another user`);
      await rm(path);
    }
    expect(await starting()).to.equal(undefined);
    await chown(home, 65_534, 65_534);
    await chown(planted, 65_534, 65_534);
    expect(await starting(), 'the superuser in the home of a user').to.equal(undefined);
  });

  it('refuses a token that others could read, and takes it where they could not reach it', async () => {
    await (await startInstance({ home, port: 0 })).close();
    await chmod(join(home, 'gateway.json'), 0o644);
    await chmod(home, 0o755);
    const error = await startInstance({ home, port: 0 }).then(
      () => expect.fail('it started'),
      (fault: Error) => fault,
    );
    expect(error).to.include({ name: 'HomeError', code: 'BAD_ANNOUNCEMENT' });
    expect(error.message).to.match(/accessible to other users of this machine \(mode 644\).*chmod 600/);
    await chmod(home, 0o700);
    await (await startInstance({ home, port: 0 })).close();
    expect(await modeOf('gateway.json')).to.equal('600');
  });
});
