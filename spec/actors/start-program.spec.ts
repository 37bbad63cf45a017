import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { outputOf, startProgram, type ProgramError } from '../../actors/start-program.js';

const open = ['-c', 'ls -l /proc/self/fd'];

/**
 * LevelDB opens its files so that children inherit them: any program that a gateway started (git with the filters of a
 * repository, a poll, an agent) could have written into the store.
 */
describe('starting a program', () => {
  let folder: string;
  let store: Level;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'start-program-'));
    store = new Level(folder);
    await store.open();
  });
  after(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  if (process.platform === 'linux')
    it('shows it no open file of ours, with any number of them', async () => {
      const options = { timeoutMs: 10_000 };
      const others = await Promise.all(
        Array.from({ length: 3 }, async (_, n) => {
          const other = new Level(join(folder, `other-${n}`));
          await other.open();
          return other;
        }),
      );
      const inherited = execFileSync('/bin/sh', open, { encoding: 'utf8' });
      const shown = await outputOf('/bin/sh', open, options);
      await Promise.all(others.map((other) => other.close()));
      expect(inherited, 'by Node alone').to.include(folder);
      expect(shown).to.include('0 -> ').and.not.include(folder);
    });

  // LevelDB opens files in threads of its own. It waits for its input: else it might have ended before it is looked at
  if (process.platform === 'linux')
    it('shows it none that was opened between the look and the start', async () => {
      const { readdirSync } = fs;
      let missed = 0;
      fs.readdirSync = ((path: string) =>
        path === '/dev/fd' && (missed += 1) === 1 ? [] : readdirSync(path)) as typeof readdirSync;
      syncBuiltinESMExports();
      try {
        const shown = await outputOf('/bin/sh', ['-c', 'cat; ls -l /proc/self/fd'], { timeoutMs: 10_000 });
        expect(shown).to.include('0 -> ').and.not.include(folder);
        expect(missed).to.be.at.least(2);
      } finally {
        fs.readdirSync = readdirSync;
        syncBuiltinESMExports();
      }
    });

  it('answers what it wrote, and gives it its input', async () => {
    expect(await outputOf('/bin/cat', [], { timeoutMs: 10_000, stdin: 'tea' })).to.equal('tea');
    const child = startProgram('/bin/sh', ['-c', 'echo $0 >&2', 'x'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    expect((await child.stderr.toArray()).join('')).to.equal('x\n');
  });

  it('says how it failed: not found, a bad end, too long, too much', async () => {
    const failed = (script: string, more = {}): Promise<ProgramError> =>
      outputOf('/bin/sh', ['-c', script], { timeoutMs: 10_000, ...more }).then(
        () => expect.fail('it ended well'),
        (error: ProgramError) => error,
      );
    const bad = await failed('echo no >&2; exit 3');
    expect([bad.exitCode, bad.stderr, bad.message]).to.deep.equal([3, 'no', '/bin/sh ended with 3.']);
    // What it has started holds its output open
    const late = await failed('sleep 5 & exec sleep 6', { timeoutMs: 50 });
    expect([late.exitCode, late.message]).to.deep.equal([null, '/bin/sh took longer than 50 ms.']);
    const much = await failed('cat /dev/zero', { bytesMax: 1_000 });
    expect(much.message).to.equal('/bin/sh wrote more than 1000 bytes.');
    const absent = await outputOf('/no/such/program', [], { timeoutMs: 10_000 }).catch(String);
    expect(absent).to.equal('ProgramError: /no/such/program could not be started (ENOENT).');
  });
});
