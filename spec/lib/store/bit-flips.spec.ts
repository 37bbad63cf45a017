import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { cp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openLevelStore } from '../../../lib/store/level.js';
import { newHome } from './homes.js';
import { groupFor } from './killed-writer.js';

const worker = fileURLToPath(new URL('./flipped-worker.js', import.meta.url));
/** `BIT_FLIPS=1000 BIT_FLIP_SEED=7` for a long run by hand. */
const flips = Number(process.env['BIT_FLIPS'] ?? 40);
const seed = Number(process.env['BIT_FLIP_SEED'] ?? 1);
/** Two deaths, and the start after them. */
const startsMax = 3;

/**
 * One flipped bit anywhere in a home: three of sixty homes could not be opened any more, and others gave wrong rows that
 * verify called sound. The process may die (LevelDB ends it), but the third start at the latest has every row.
 */
describe('one flipped bit anywhere in a home', () => {
  it(`costs no row, and no home that does not open (${flips} flips)`, async () => {
    const { home, seq } = await largerHome();
    const files = await filesBelow(home);
    const random = randomFrom(seed);
    const bad: string[] = [];
    for (let n = 0; n < flips; n += 1) {
      const file = files[Math.floor(random() * files.length)]!;
      const bytes = await readFile(file);
      const at = Math.floor(random() * bytes.length);
      const bit = Math.floor(random() * 8);
      bytes[at]! ^= 1 << bit;
      const flipped = await newHome();
      await cp(home, flipped, { recursive: true });
      await writeFile(join(flipped, relative(home, file)), bytes);
      const noted = `${flipped}.acknowledged`;
      await writeFile(noted, `${seq}`);
      const ends: string[] = [];
      while (ends.length < startsMax && ends.at(-1) !== 'well') {
        const { status, signal, stderr } = spawnSync(process.execPath, [worker, flipped, noted], {
          encoding: 'utf8',
          timeout: 60_000,
        });
        ends.push(status === 0 ? 'well' : `${signal ?? status} ${/\w*Error: .*/.exec(stderr)?.[0] ?? ''}`);
      }
      if (ends.at(-1) !== 'well')
        bad.push(`${relative(home, file)} byte ${at} bit ${bit}: ${ends.join(', ')}`);
      await rm(flipped, { recursive: true });
      await rm(noted);
    }
    expect(bad).to.deep.equal([]);
  }).timeout(600_000 + flips * 5_000);
});

/** Several tables in several levels, a base image and segments behind it. */
async function largerHome(): Promise<{ readonly home: string; readonly seq: number }> {
  const home = await newHome();
  const store = await openLevelStore({ directory: home, scrubEveryMs: 0, segmentBytesMax: 200_000 });
  for (let part = 0; part < 4; part += 1) {
    for (let n = 0; n < 150; n += 1) await store.write(groupFor(store.head.seq + 1, store.head.chain));
    await store.checkpoint();
    if (part === 1) await store.compact();
  }
  const { seq } = store.head;
  await store.close();
  return { home, seq };
}

async function filesBelow(directory: string): Promise<string[]> {
  const files: string[] = [];
  for (const name of (await readdir(directory)).sort()) {
    const path = join(directory, name);
    const facts = await stat(path);
    if (facts.isDirectory()) files.push(...(await filesBelow(path)));
    else if (facts.size > 0) files.push(path);
  }
  return files;
}

/** mulberry32 */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
