import { expect } from 'chai';
import { appendFile, cp, readFile, readdir, rm, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { segmentName } from '../../../lib/store/copy-files.js';
import { DamageError, type Database, type OpenDatabase } from '../../../lib/store/database.js';
import { nodeFiles } from '../../../lib/store/files.js';
import { readFrames } from '../../../lib/store/frame-reader.js';
import { openLevelStore, type LevelStore } from '../../../lib/store/level.js';
import { storePorts } from '../../../lib/store/ports.js';
import { verifyStore } from '../../../lib/store/verify.js';
import { groupAfter, rejection } from '../../../lib/testing/store-contract.js';
import { audit, expectWhole, fill, filesIn, fingerprint, flipBit, newHome, usedHome } from './homes.js';

const copyOf = (home: string): string => join(home, 'store-copy');

describe('a damaged second copy', () => {
  it('loses nothing where the last write was cut short', async () => {
    for (const garbage of [
      '#12345678 00000000',
      '#'.repeat(500),
      '+a/x/1\t{"half":',
      '\0'.repeat(5_000),
      `${'\0'.repeat(300)}+a\t1\n`,
    ]) {
      const { killed, model } = await usedHome({ checkpointAt: 1 });
      const segment = (await filesIn(copyOf(killed), /^segment-/)).at(-1)!;
      await truncate(segment, await endOfFrames(segment));
      await appendFile(segment, garbage);
      await expectWhole(killed, model);
      expect((await readdir(killed)).filter((name) => name.includes('damaged'))).to.deep.equal([]);
    }
  });

  it('is written again from the database where acknowledged frames were cut off its end', async () => {
    for (const end of ['killed', 'clean'] as const) {
      const homes = await usedHome({ checkpointAt: 1 });
      const segment = (await filesIn(copyOf(homes[end]), /^segment-/)).at(-1)!;
      await truncate(segment, (await endOfFrames(segment)) - 10);
      await expectWhole(homes[end], homes.model);
      expect(
        (await readdir(homes[end])).filter((name) => name.startsWith('store-copy.damaged-')),
      ).to.have.length(1);
    }
  });

  // A rebuild took the damaged end for a write that never finished, and one that was acknowledged was gone. Seed 581 of
  // the simulation.
  it('that lost its end does not stand in for a database that failed for a moment, at a start or at work', async () => {
    for (const moment of ['start', 'read'] as const) {
      const { killed, model } = await usedHome({ checkpointAt: 1 });
      let fails = false;
      const openDatabase: OpenDatabase = async (directory, options) => {
        const database = await storePorts().openDatabase(directory, options);
        const get = (key: string): string | undefined => {
          if (!fails) return database.get(key);
          fails = false;
          throw new DamageError('LevelDB cannot read a table');
        };
        const apply: Database['apply'] = async (frames, position) => {
          if (fails) get('');
          await database.apply(frames, position);
        };
        return { ...database, get, apply };
      };
      const open = (): Promise<LevelStore> =>
        openLevelStore({ directory: killed, ports: { openDatabase }, scrubEveryMs: 0 });
      const loseEnd = async (): Promise<void> => {
        const segment = (await filesIn(copyOf(killed), /^segment-/)).at(-1)!;
        await truncate(segment, (await endOfFrames(segment)) - 10);
        fails = true;
      };
      if (moment === 'start') await loseEnd();
      const store = await open();
      if (moment === 'read') {
        await fill(store, model, 5);
        await store.page({ gte: 'a/', lt: 'b' }); // LevelDB holds all of it
        await loseEnd();
        await store.get('a/x/1');
      }
      expect(fails, moment).to.equal(false);
      await audit(store, model);
      await store.close();
      await expectWhole(killed, model);
    }
  });

  // Both copies were said to be damaged, and the home was refused. Seed 12321 of the simulation.
  it('is written again from a database that failed for a moment while it was verified', async () => {
    const { killed, model } = await usedHome({ checkpointAt: 1 });
    const segment = (await filesIn(copyOf(killed), /^segment-/)).at(-1)!;
    await flipBit(segment, 0.5, await endOfFrames(segment));
    let walks = 0;
    const openDatabase: OpenDatabase = async (directory, options) => {
      const database = await storePorts().openDatabase(directory, options);
      const walk: Database['walk'] = (how) => {
        walks += 1;
        if (walks === 1) throw new DamageError('LevelDB cannot read a table');
        return database.walk(how);
      };
      return { ...database, walk };
    };
    const store = await openLevelStore({ directory: killed, ports: { openDatabase } });
    expect(walks).to.be.at.least(2);
    await audit(store, model);
    await store.close();
    await expectWhole(killed, model);
  });

  // A rebuild that a damaged copy had refused was never tried again in that life, though the copy was replaced since:
  // what was damaged later stayed so, with a sound copy beside it. Seed 11188 of the simulation.
  it('that was replaced repairs the database again', async () => {
    const { killed, model } = await usedHome({ checkpointAt: 1, baseAt: 1 });
    const damaged = new Set<string>();
    let rebuilds = 0;
    const openDatabase = openWithDamaged(damaged, () => (rebuilds += 1) === 2 && damaged.clear());
    const store = await openLevelStore({ directory: killed, ports: { openDatabase }, scrubEveryMs: 0 });
    const [row] = await store.page({ gte: 'a/', limit: 1 });
    await flipBit((await filesIn(copyOf(killed), /^base-/))[0]!, 0.5);
    damaged.add(row![0]);
    expect((await rejection(store.get(row![0]))).code).to.equal('CORRUPT');
    damaged.clear(); // it was the disk, for a while
    expect((await store.scrub()).faults.join()).to.include('the base image is damaged');
    damaged.add(row![0]);
    expect(await store.get(row![0])).to.equal(row![1]);
    await audit(store, model);
    await store.close();
    await expectWhole(killed, model);
  });

  // Nor was it where the copy was replaced on that very occasion. Seed 105526
  it('that was replaced when it could not repair the database repairs it later', async () => {
    const { killed, model } = await usedHome({ checkpointAt: 1 });
    const damaged = new Set<string>();
    let isDisk = true;
    const openDatabase = openWithDamaged(damaged, () => !isDisk && damaged.clear());
    const store = await openLevelStore({ directory: killed, ports: { openDatabase }, scrubEveryMs: 0 });
    const [row] = await store.page({ gte: 'a/', limit: 1 });
    const segment = (await filesIn(copyOf(killed), /^segment-/)).at(-1)!;
    await flipBit(segment, 0.5, await endOfFrames(segment));
    damaged.add(row![0]);
    expect((await rejection(store.get(row![0]))).code).to.equal('CORRUPT');
    expect(await filesIn(copyOf(killed), /^base-/), 'it was replaced').to.have.length(1);
    isDisk = false; // what is damaged from now on is in the file, and a rebuild mends it
    expect(await store.get(row![0])).to.equal(row![1]);
    await audit(store, model);
    await store.close();
    await expectWhole(killed, model);
  });

  it('is written again where a bit flipped in a frame, before or after the checkpoint', async () => {
    for (const part of [0.55, 0.8, 0.98]) {
      const { killed, model } = await usedHome({ checkpointAt: 1 });
      const segment = (await filesIn(copyOf(killed), /^segment-/)).at(-1)!;
      await flipBit(segment, part, await endOfFrames(segment));
      await expectWhole(killed, model);
    }
  });

  it('goes on where a kill came right after a new segment was begun', async () => {
    // Found by reading: the next frame then went into the older segment, and a rebuild from the base image
    // passed over it.
    for (const checkpointed of [true, false]) {
      const { killed, model } = await usedHome({ checkpointAt: 1, baseAt: 2 });
      const frames = await lastFrame((await filesIn(copyOf(killed), /^segment-/)).at(-1)!);
      await writeFile(join(copyOf(killed), segmentName(frames + 1)), '');
      if (!checkpointed) await unlink(join(copyOf(killed), 'checkpoint.json'));
      const store = await openLevelStore({ directory: killed });
      await fill(store, model, 5);
      const newest = (await filesIn(copyOf(killed), /^segment-/)).at(-1)!;
      expect(newest).to.equal(join(copyOf(killed), segmentName(frames + 1)));
      expect(await lastFrame(newest)).to.equal(frames + 5);
      await store.compact();
      await fill(store, model, 5);
      await store.close();
      await rm(join(killed, 'store'), { recursive: true });
      await expectWhole(killed, model);
    }
  });

  // The checkpoint had no checksum: a flip in one of its numbers named a place that no one had reached, and the start was
  // refused with the advice to restore a backup.
  it('opens whatever bit flips in the checkpoint, and says that it did', async () => {
    const { clean, model } = await usedHome({ checkpointAt: 1, baseAt: 2 });
    const path = join(copyOf(clean), 'checkpoint.json');
    const { length } = await readFile(path);
    for (let at = 0; at < length; at += 17) {
      const home = await newHome();
      await cp(clean, home, { recursive: true });
      const bytes = await readFile(path);
      bytes[at]! ^= 1 << (at % 8);
      await writeFile(join(copyOf(home), 'checkpoint.json'), bytes);
      expect((await verifyStore(home)).faults, `byte ${at}`).to.deep.equal(['the checkpoint is unreadable']);
      const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
      await audit(store, model);
      await store.close();
      expect((await verifyStore(home)).faults).to.deep.equal([]);
      expect((await readdir(home)).filter((name) => name.includes('damaged'))).to.deep.equal([]);
    }
  });

  const missing: Record<string, (copy: string) => Promise<void>> = {
    'the whole folder': (copy) => rm(copy, { recursive: true }),
    'a segment': async (copy) => unlink((await filesIn(copy, /^segment-/))[0]!),
    'the last segment': async (copy) => unlink((await filesIn(copy, /^segment-/)).at(-1)!),
    'the base image': async (copy) => unlink((await filesIn(copy, /^base-/))[0]!),
    'half of the base image': async (copy) => truncate((await filesIn(copy, /^base-/))[0]!, 5_000),
    'the checkpoint': (copy) => unlink(join(copy, 'checkpoint.json')),
    'the text of the checkpoint': (copy) => writeFile(join(copy, 'checkpoint.json'), '{"format":1,'),
    'all but the checkpoint': async (copy) => {
      for (const path of await filesIn(copy, /^(base|segment)-/)) await unlink(path);
    },
  };
  for (const [what, damage] of Object.entries(missing)) {
    for (const end of ['killed', 'clean'] as const) {
      it(`loses nothing where ${what} is missing (${end})`, async () => {
        const homes = await usedHome({ baseAt: 1, checkpointAt: 2, store: { segmentBytesMax: 100_000 } });
        await damage(copyOf(homes[end]));
        await expectWhole(homes[end], homes.model);
        // The repaired copy must be able to carry the store alone.
        await rm(join(homes[end], 'store'), { recursive: true });
        await expectWhole(homes[end], homes.model);
      });
    }
  }

  it('and a holed database together are refused, and nothing is touched', async () => {
    const { killed } = await usedHome({ checkpointAt: 1 });
    const segment = (await filesIn(copyOf(killed), /^segment-/)).at(-1)!;
    await flipBit(segment, 0.8, await endOfFrames(segment));
    const log = (await filesIn(join(killed, 'store'), /\.log$/)).at(-1)!;
    await truncate(log, 0);
    const copyBefore = await fingerprint(copyOf(killed));
    const error = await rejection(openLevelStore({ directory: killed }));
    expect(error.code).to.equal('REFUSED');
    expect(error.message)
      .to.match(/Both copies/)
      .and.match(/missing/);
    expect(await fingerprint(copyOf(killed))).to.equal(copyBefore);
    expect((await rejection(openLevelStore({ directory: killed }))).code).to.equal('REFUSED');
  });

  it('that ends before its own checkpoint does not stand in for a database that is gone: what it lost was acknowledged', async () => {
    const { clean } = await usedHome({ checkpointAt: 1 });
    const segment = (await filesIn(copyOf(clean), /^segment-/)).at(-1)!;
    const ends: number[] = [];
    for await (const found of readFrames(nodeFiles, segment)) if ('frame' in found) ends.push(found.end);
    await truncate(segment, ends.at(-3)!); // whole frames: what is left looks sound
    await rm(join(clean, 'store'), { recursive: true });
    const copyBefore = await fingerprint(copyOf(clean));
    const error = await rejection(openLevelStore({ directory: clean }));
    expect(error.code).to.equal('REFUSED');
    expect(error.message).to.match(/the copy ends at entry \d+, the checkpoint is at \d+/);
    expect(await fingerprint(copyOf(clean))).to.equal(copyBefore);
  });

  it('whose base image ends too early, though soundly, does not stand in for a database that is gone', async () => {
    const home = await newHome();
    const store = await openLevelStore({ directory: home });
    for (let n = 0; n < 30; n += 1)
      await store.write(
        groupAfter(
          store.head,
          1,
          Array.from({ length: 100 }, (_, i) => [`a/item/${n * 100 + i}`, `{"n":${n}}`] as const),
        ),
      );
    await store.compact();
    await store.close();
    const base = (await filesIn(copyOf(home), /^base-/))[0]!;
    const ends: number[] = [];
    for await (const found of readFrames(nodeFiles, base)) if ('frame' in found) ends.push(found.end);
    expect(ends.length).to.be.at.least(4); // pages of rows, and the end that counts them
    await truncate(base, ends.at(-3)!);
    await rm(join(home, 'store'), { recursive: true });
    const error = await rejection(openLevelStore({ directory: home }));
    expect([error.code, /base image/.test(error.message)], error.message).to.deep.equal(['REFUSED', true]);
  });

  it('that tells another history is refused, though it is as long', async () => {
    const homes = await Promise.all(
      ['A', 'B'].map(async (letter) => {
        const home = await newHome();
        const store = await openLevelStore({ directory: home });
        await store.write({
          first: 1,
          last: 1,
          chain: letter.repeat(43),
          ops: [['l/0000000000000001', '{}']],
        });
        for (let n = 0; n < 20; n += 1) await store.write(groupAfter(store.head, 1, []));
        await store.close();
        return home;
      }),
    );
    const [one, other] = homes as [string, string];
    await rm(copyOf(one), { recursive: true });
    await cp(copyOf(other), copyOf(one), { recursive: true });
    const error = await rejection(openLevelStore({ directory: one }));
    expect(error.code).to.equal('REFUSED');
    expect(error.message).to.match(/different histories/);
  });
});

/** Where the last sound frame of a segment ends; behind it lies reserved room. */
async function endOfFrames(path: string): Promise<number> {
  let end = 0;
  for await (const found of readFrames(nodeFiles, path)) if ('frame' in found) end = found.end;
  expect((await readFile(path)).length).to.be.at.least(end);
  return end;
}

/** The number of the last frame in a segment. */
async function lastFrame(path: string): Promise<number> {
  let last = 0;
  for await (const found of readFrames(nodeFiles, path)) if ('frame' in found) last = found.frame.frame;
  return last;
}

/** The real LevelDB, which cannot read these rows. `rebuilt`: called where another one is made. */
function openWithDamaged(damaged: ReadonlySet<string>, rebuilt: () => unknown): OpenDatabase {
  return async (directory, options) => {
    const database = await storePorts().openDatabase(directory, options);
    if (options.create === 'new') rebuilt();
    const get = (key: string): string | undefined => {
      if (damaged.has(key)) throw new DamageError(`the checksum of the row ${key} does not match`);
      return database.get(key);
    };
    return { ...database, get };
  };
}
