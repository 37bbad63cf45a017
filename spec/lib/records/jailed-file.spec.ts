import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { link, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJailed } from '../../../lib/records/jailed-file.js';

describe('openJailed', () => {
  let folder: string;
  let root: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'jail-')));
    root = join(folder, 'root');
    await mkdir(join(root, 'deep', 'er'), { recursive: true });
    await writeFile(join(root, 'deep', 'er', 'in.txt'), 'inside');
    await writeFile(join(folder, 'secret.txt'), 'secret');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function found(path: string, from = root): Promise<string> {
    const opened = await openJailed(from, path);
    if (typeof opened === 'string') return opened;
    try {
      return await opened.handle.readFile('utf8');
    } finally {
      await opened.handle.close();
    }
  }

  it('opens a file in its folder, also where the root itself is behind a link of its owner', async () => {
    expect(await found('deep/er/in.txt')).to.equal('inside');
    await symlink(root, join(folder, 'way-in'));
    expect(await found('deep/er/in.txt', join(folder, 'way-in'))).to.equal('inside');
  });

  for (const path of [
    '',
    '.',
    '..',
    '../secret.txt',
    'deep/../../secret.txt',
    '/etc/hostname',
    'deep//er/in.txt',
    'deep/er/',
    './deep/er/in.txt',
    'deep\\er',
    'in\u0000.txt',
    'in\n.txt',
    '%2e%2e/secret.txt',
    '..%2fsecret.txt',
    'a%00',
    '\ud800',
    'x'.repeat(300),
    `${'a/'.repeat(600)}b`,
  ]) {
    it(`takes ${JSON.stringify(path).slice(0, 40)} for no path`, async () =>
      expect(await found(path)).to.equal('malformed'));
  }

  it('refuses links to files, links on the way, second names of a file, pipes and folders', async () => {
    await symlink(join(folder, 'secret.txt'), join(root, 'link.txt'));
    await symlink(folder, join(root, 'out'));
    await symlink(join(root, 'deep'), join(root, 'also-deep'));
    await link(join(folder, 'secret.txt'), join(root, 'twin.txt'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    for (const path of ['link.txt', 'out/secret.txt', 'also-deep/er/in.txt', 'twin.txt', 'pipe', 'deep'])
      expect(await found(path), path).to.equal('outside');
    expect(await found('nothing.txt')).to.equal('absent');
    expect(await found('deep/er/in.txt/more')).to.equal('absent');
  });

  // found by this very case: a look at the name after the opening (realpath, then stat) was deceived by
  // swapping twice
  it('never reads outside while someone swaps a folder for a link, as fast as they can', async () => {
    await mkdir(join(folder, 'trap', 'er'), { recursive: true });
    await writeFile(join(folder, 'trap', 'er', 'in.txt'), 'secret');
    let going = true;
    const swapper = (async () => {
      while (going) {
        await rename(join(root, 'deep'), join(root, 'aside'));
        await symlink(join(folder, 'trap'), join(root, 'deep'));
        await rm(join(root, 'deep'));
        await rename(join(root, 'aside'), join(root, 'deep'));
        // The true folder must have its moments, too
        for (let rest = 0; rest < 3; rest += 1) await realpath(root);
      }
    })();
    const answers = new Set<string>();
    for (let tries = 0; tries < 1_500; tries += 1) answers.add(await found('deep/er/in.txt'));
    going = false;
    await swapper;
    expect([...answers])
      .to.include('inside')
      .and.not.to.include('secret');
  });
});
