import { expect } from 'chai';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeStale } from '../../lib/build-command.js';

/** A rebuild in a clone took the files away that a gateway which ran from it had not loaded yet. */
describe('a rebuild of the command', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-command-'));
    const now = Date.now() / 1_000;
    for (const [name, daysAgo] of [
      ['troupe.js', 0],
      ['chunk-NOW.js', 9],
      ['chunk-BEFORE.js', 1],
      ['chunk-LONGAGO.js', 8],
    ] as const) {
      await writeFile(join(folder, name), '');
      await utimes(join(folder, name), now, now - daysAgo * 86_400);
    }
  });
  afterEach(() => rm(folder, { recursive: true }));
  const made = new Set(['troupe.js', 'chunk-NOW.js']);
  const left = async (keptMs: number): Promise<readonly string[]> => {
    await removeStale(folder, made, keptMs);
    return (await readdir(folder)).sort();
  };

  it('keeps for a while what the builds before it had, for the gateways that began with them', async () => {
    expect(await left(7 * 86_400_000)).to.deep.equal(['chunk-BEFORE.js', 'chunk-NOW.js', 'troupe.js']);
  });

  it('keeps nothing of them where it is packed', async () => {
    expect(await left(0)).to.deep.equal(['chunk-NOW.js', 'troupe.js']);
  });
});
