import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  contentHash,
  makeFolder,
  readPlainFile,
  sweepTemporary,
  writeAtomically,
} from '../../../lib/home/atomic-file.js';

describe('files of the home', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-files-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });
  const at = (name: string): string => join(folder, name);
  const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
  const failure = (deed: Promise<unknown>): Promise<Error> =>
    deed.then(
      () => expect.fail('it went through'),
      (error: Error) => error,
    );

  it('replaces a file whole, with the asked permissions whatever the umask and the old file', async () => {
    const umask = process.umask(0o777);
    try {
      await writeAtomically(at('a'), 'one', { mode: 0o600 });
      expect(await modeOf(at('a'))).to.equal(0o600);
      await writeAtomically(at('a'), 'two', { mode: 0o644 });
    } finally {
      process.umask(umask);
    }
    expect(await modeOf(at('a'))).to.equal(0o644);
    expect(await readFile(at('a'), 'utf8')).to.equal('two');
    expect(await readdir(folder)).to.deep.equal(['a']);
  });

  it('leaves the old file and no litter when the write fails', async () => {
    await writeFile(at('a'), 'old');
    await failure(
      writeAtomically(at('a'), 'new', { mode: 0o600, unlessChangedFrom: contentHash('something else') }),
    );
    const intoFolder = await failure(writeAtomically(folder, 'new', { mode: 0o600 }));
    expect(intoFolder).to.have.property('code').that.is.oneOf(['EISDIR', 'ENOTEMPTY', 'EEXIST']);
    expect(await readFile(at('a'), 'utf8')).to.equal('old');
    expect(await readdir(folder)).to.deep.equal(['a']);
  });

  it('refuses to overwrite what someone else changed in the meantime', async () => {
    await writeAtomically(at('a'), 'one', { mode: 0o600, unlessChangedFrom: null });
    expect(
      await failure(writeAtomically(at('a'), 'mine', { mode: 0o600, unlessChangedFrom: null })),
    ).to.have.property('code', 'CHANGED_MEANWHILE');
    await writeAtomically(at('a'), 'two', { mode: 0o600, unlessChangedFrom: contentHash('one') });
    expect(await readFile(at('a'), 'utf8')).to.equal('two');
  });

  it('follows no link on reading and replaces it, not its target, on writing', async () => {
    await writeFile(at('target'), 'secret');
    await symlink(at('target'), at('link'));
    expect((await failure(readPlainFile(at('link'), 100))).message).to.match(/symbolic link/);
    await writeAtomically(at('link'), 'own', { mode: 0o600 });
    expect(await readFile(at('target'), 'utf8')).to.equal('secret');
    expect(await readFile(at('link'), 'utf8')).to.equal('own');
  });

  it('reads regular files within their bound and nothing else', async () => {
    expect(await readPlainFile(at('absent'), 10)).to.equal(undefined);
    await writeFile(at('a'), '0123456789');
    expect(String(await readPlainFile(at('a'), 10))).to.equal('0123456789');
    expect((await failure(readPlainFile(at('a'), 9))).message).to.match(/10 bytes/);
    expect((await failure(readPlainFile(folder, 9))).message).to.match(/not a regular file/);
    execFileSync('mkfifo', [at('pipe')]);
    // A read of a pipe without a writer would never end; that it ends at all is what is shown here.
    expect((await failure(readPlainFile(at('pipe'), 9))).message).to.match(/not a regular file/);
  });

  it('makes private folders and keeps the permissions of those that exist', async () => {
    await makeFolder(at('home/store'));
    expect(await modeOf(at('home/store'))).to.equal(0o700);
    await chmod(at('home'), 0o755);
    await makeFolder(at('home'));
    expect(await modeOf(at('home'))).to.equal(0o755);
  });

  // mkdir -p as Node has it tries for ever below /proc: four backups to there held all threads that read and
  // write files.
  it('gives up where no folder can be made, and where a file stands', async () => {
    await writeFile(at('a'), 'x');
    const places = [at('a'), at('a/b'), ...(process.platform === 'linux' ? ['/proc/self/nothing/here'] : [])];
    for (const place of places)
      expect(await failure(makeFolder(place)), place)
        .to.have.property('code')
        .that.is.oneOf(['EEXIST', 'ENOTDIR', 'ENOENT']);
    expect(await readdir(folder)).to.deep.equal(['a']);
  });

  it('sweeps away what killed writers left, and only that', async () => {
    await writeAtomically(at('a'), 'x', { mode: 0o600 });
    await writeFile(at('.a.AbCdEf.writing'), 'half');
    await writeFile(at('.keep'), 'mine');
    expect(await sweepTemporary(folder)).to.equal(1);
    expect(await readdir(folder)).to.have.members(['.keep', 'a']);
    expect(await sweepTemporary(at('absent'))).to.equal(0);
  });
});
