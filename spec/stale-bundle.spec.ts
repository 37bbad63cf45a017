import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const settings = fileURLToPath(new URL('../../.mocharc.cjs', import.meta.url));

/** After the compiler alone, specs that import `troupe` passed and failed by the code of the last whole build. */
describe('a bundle that is older than what it is made of', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stale-bundle-'));
    for (const path of ['lib', 'actors', 'machines', 'command'])
      await mkdir(join(folder, 'dist', path), { recursive: true });
    await mkdir(join(folder, 'spec'));
    await writeFile(join(folder, 'dist/lib/part.js'), '');
    await writeFile(join(folder, 'dist/command/package.json'), '{}');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const bundled = (seconds: number): Promise<void> =>
    utimes(join(folder, 'dist/lib/part.js'), 1_000, 1_000).then(() =>
      utimes(join(folder, 'dist/command/package.json'), seconds, seconds),
    );
  const loaded = (...words: string[]): Promise<{ readonly isDone: boolean; readonly err: string }> =>
    new Promise((resolve) =>
      execFile(
        process.execPath,
        ['-e', `require(${JSON.stringify(settings)})`, '--', 'mocha', ...words],
        { cwd: folder },
        (error, _out, err) => resolve({ isDone: error === null, err }),
      ),
    );

  it('stops the whole suite, and is said before specs that are named', async () => {
    await bundled(999);
    const whole = await loaded();
    expect(whole.isDone).to.equal(false);
    expect(whole.err).to.include('older than dist/lib/part.js. Build it: npm run build');
    const named = await loaded('dist/spec/one.spec.js');
    expect(named.isDone).to.equal(true);
    expect(named.err).to.include('npm run build\nUntil then');
  });

  it('is silent where the bundle is the newest', async () => {
    await bundled(1_001);
    expect(await loaded()).to.deep.equal({ isDone: true, err: '' });
  });
});
