import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLevelStore, type LevelStore, type LevelStoreOptions } from '../../../lib/store/level.js';
import { audit, fill, type Model } from './model.js';

export { audit, fill, type Model };

const made: string[] = [];

/** An empty folder for one case; gone when the run ends. */
export async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'troupe-store-'));
  made.push(home);
  return home;
}

after(async () => {
  for (const home of made.splice(0)) await rm(home, { recursive: true, force: true });
});

/**
 * Change a letter within `count` rows where they lie in the tables: every block stays well-formed, only the
 * row's checksum can tell.
 */
export async function spoilRows(home: string, model: Model, count: number): Promise<void> {
  let spoilt = 0;
  const texts = [...model.values()]
    .map((value) => /"random":"([^"]+)"/.exec(value)?.[1])
    .filter((text) => text !== undefined);
  for (const table of await filesIn(join(home, 'store'), /\.ldb$/)) {
    const bytes = await readFile(table);
    for (const text of texts) {
      const at = spoilt < count ? bytes.indexOf(text) : -1;
      if (at < 0) continue;
      bytes[at + 5] = bytes[at + 5] === 0x41 ? 0x42 : 0x41;
      spoilt += 1;
    }
    await writeFile(table, bytes);
  }
  expect(spoilt).to.equal(count);
}

/** What a kill -9 at this moment would leave on the disk. */
export async function crashedCopy(home: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const copy = await newHome();
    try {
      await cp(home, copy, { recursive: true });
      return copy;
    } catch (error) {
      // LevelDB drops files of its own in the background; a kill would have come before or after that, so
      // look again.
      if (tries === 5 || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** A home with a few hundred groups in it, as a kill would leave it, and as a clean close leaves it. */
export async function usedHome(
  options: {
    readonly checkpointAt?: number;
    readonly baseAt?: number;
    readonly store?: Partial<LevelStoreOptions>;
  } = {},
): Promise<{ killed: string; clean: string; model: Model }> {
  const home = await newHome();
  const model: Model = new Map();
  const store = await openLevelStore({ directory: home, ...options.store });
  for (let part = 0; part < 4; part += 1) {
    await fill(store, model, 35);
    if (options.checkpointAt === part) await store.checkpoint();
    if (options.baseAt === part) await store.compact();
  }
  const killed = await crashedCopy(home);
  await store.close();
  return { killed, clean: home, model };
}

/** Open, audit, write on, close, open again, audit: a healed store must also be a lasting one. */
export async function expectWhole(
  home: string,
  model: Model,
  look?: (store: LevelStore) => Promise<void> | void,
): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const store = await openLevelStore({ directory: home });
    try {
      await audit(store, model);
      await look?.(store);
      await fill(store, model, 5);
      await audit(store, model);
    } finally {
      await store.close();
    }
  }
}

/** The files of a folder whose names match, ascending. */
export async function filesIn(directory: string, pattern: RegExp): Promise<string[]> {
  return (await readdir(directory))
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(directory, name));
}

/** Flip one bit at a part (0–1) of a file's length, or of `within` bytes. */
export async function flipBit(path: string, part: number, within?: number): Promise<void> {
  const bytes = await readFile(path);
  const at = Math.floor((within ?? bytes.length) * part);
  bytes[at] = bytes[at]! ^ 0x10;
  await writeFile(path, bytes);
}

/**
 * A fingerprint of every data file of a home, to show that nothing was touched. LevelDB's own diary (LOG)
 * does not count.
 */
export async function fingerprint(home: string): Promise<string> {
  const lines: string[] = [];
  const walk = async (directory: string): Promise<void> => {
    for (const name of (await readdir(directory)).sort()) {
      const path = join(directory, name);
      if ((await stat(path)).isDirectory()) {
        if (name !== 'lock') await walk(path);
      } else if (!/^LO(G|G\.old|CK)$/.test(name)) {
        lines.push(
          `${path} ${createHash('sha256')
            .update(await readFile(path))
            .digest('hex')}`,
        );
      }
    }
  };
  await walk(home);
  return lines.join('\n');
}
