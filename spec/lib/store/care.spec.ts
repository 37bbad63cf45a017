import { expect } from 'chai';
import { mkdir, readFile, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { nodeFiles, type OpenMode } from '../../../lib/store/files.js';
import { openLevelStore } from '../../../lib/store/level.js';
import type { StoreClock } from '../../../lib/store/ports.js';
import { restore } from '../../../lib/store/restore.js';
import { verifyStore } from '../../../lib/store/verify.js';
import { rejection } from '../../../lib/testing/store-contract.js';
import {
  audit,
  expectWhole,
  fill,
  filesIn,
  fingerprint,
  flipBit,
  newHome,
  spoilRows,
  usedHome,
  type Model,
} from './homes.js';

describe('the lock of a home', () => {
  it('turns a second opener away at once, and lets go at the close', async () => {
    const { clean, model } = await usedHome();
    const store = await openLevelStore({ directory: clean });
    const before = await fingerprint(clean);
    const error = await rejection(openLevelStore({ directory: clean }));
    expect(error.code).to.equal('LOCKED');
    expect(error.message).to.match(/another process is using/);
    expect((await rejection(verifyStore(clean))).code).to.equal('LOCKED');
    expect(await fingerprint(clean)).to.equal(before);
    await store.close();
    await expectWhole(clean, model);
  });

  it('is taken again where a power cut left its folder in pieces', async () => {
    const { clean, model } = await usedHome();
    await writeFile(join(clean, 'lock', 'CURRENT'), '');
    await expectWhole(clean, model);
  });
});

describe('compact', () => {
  it('lets erased contents leave the second copy, and keeps the rest', async () => {
    const home = await newHome();
    const model: Model = new Map();
    const store = await openLevelStore({ directory: home });
    await fill(store, model, 50);
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [['c/contents/x/1/1', '"SECRET-LETTER"']],
    });
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [['c/contents/x/1/1', null]],
    });
    await store.checkpoint();
    await store.compact();
    await fill(store, model, 10);
    await store.close();
    await rm(join(home, 'store'), { recursive: true });
    await expectWhole(home, model);
  });

  it('drops no segment that holds a group the base image does not', async () => {
    const home = await newHome();
    const model: Model = new Map();
    // A segment for every write
    const store = await openLevelStore({ directory: home, segmentBytesMax: 1, reserveBytes: 0 });
    await fill(store, model, 10);
    const compacted = store.compact();
    await fill(store, model, 10);
    await compacted;
    await store.close();
    expect(await filesIn(join(home, 'store-copy'), /^base-/)).to.have.length(1);
    await rm(join(home, 'store'), { recursive: true });
    await expectWhole(home, model);
  });

  // The pauses of an image in the background hold no process: who waited for nothing else was ended in the middle
  it('waits for no pause of an image that is under way', async () => {
    const home = await newHome();
    const model: Model = new Map();
    let pauses = 0;
    const clock: StoreClock = {
      now: Date.now,
      monotonic: () => performance.now(),
      wait: (_, { signal } = {}) => {
        pauses += 1;
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      },
    };
    const store = await openLevelStore({
      directory: home,
      thread: false,
      scrubEveryMs: 0,
      limits: { baseBytesMin: 1_000 },
      ports: { clock },
    });
    const proving = pauses; // after a while it will note that it opened well
    while (pauses === proving) await fill(store, model, 10);
    await store.compact();
    await store.close();
    await rm(join(home, 'store'), { recursive: true });
    await expectWhole(home, model);
  });

  it('runs by itself once the segments have outgrown the base, and drops what they held', async () => {
    const home = await newHome();
    const model: Model = new Map();
    const limits = { checkpointBytes: 50_000, checkpointSteps: 40, baseBytesMin: 200_000 };
    const store = await openLevelStore({ directory: home, limits, segmentBytesMax: 60_000, reserveBytes: 0 });
    while (
      (await filesIn(join(home, 'store-copy'), /^base-/)).length === 0 ||
      (await filesIn(join(home, 'store-copy'), /^segment-0{15}1\.log$/)).length > 0
    )
      await fill(store, model, 10);
    await store.close();
    await rm(join(home, 'store'), { recursive: true });
    await expectWhole(home, model);
  });
});

/** A disk on which something else happens before, or after, a segment is next opened for reading. */
function disturbed() {
  const disk = {
    before: undefined as (() => Promise<void>) | undefined,
    after: undefined as (() => Promise<void>) | undefined,
    files: {
      ...nodeFiles,
      async open(path: string, mode: OpenMode) {
        if (mode !== 'read' || !path.includes('segment-')) return nodeFiles.open(path, mode);
        const { before, after } = disk;
        disk.before = disk.after = undefined;
        await before?.();
        const file = await nodeFiles.open(path, mode);
        await after?.();
        return file;
      },
    },
  };
  return disk;
}

describe('verify', () => {
  it('finds nothing wrong with a sound store, open or closed, killed or clean', async () => {
    const { killed, clean, model } = await usedHome({ baseAt: 1, store: { segmentBytesMax: 100_000 } });
    for (const home of [killed, clean]) {
      const report = await verifyStore(home);
      expect(report.faults).to.deep.equal([]);
      expect(report).to.include({ ok: true, firstSeq: 1 });
      expect(report.rows).to.equal(model.size + 1);
      expect(report.copy.seq).to.equal(report.head?.seq);
    }
    const store = await openLevelStore({ directory: clean });
    expect(await store.verify()).to.include({ ok: true });
    await fill(store, model, 3);
    expect(await store.verify()).to.include({ ok: true });
    await store.close();
  });

  // Simulation, seed 13660: the base image was replaced between the list of files and the look at it.
  it('looks again where a base image goes while it looks around', async () => {
    const { clean } = await usedHome({ baseAt: 1, store: { segmentBytesMax: 20_000 } });
    let compact: (() => Promise<void>) | undefined;
    const files = {
      ...nodeFiles,
      async size(path: string) {
        const first = path.includes('base-') ? compact : undefined;
        if (first !== undefined) compact = undefined;
        await first?.();
        return nodeFiles.size(path);
      },
    };
    const store = await openLevelStore({ directory: clean, segmentBytesMax: 20_000, ports: { files } });
    compact = () => store.compact();
    expect((await store.verify()).faults).to.deep.equal([]);
    expect(compact).to.equal(undefined);
    await store.close();
  });

  // It once failed with ENOENT, or called the files that a compaction had replaced missing.
  it('takes files that a compaction moves while it reads for no damage', async () => {
    const { clean, model } = await usedHome({ store: { segmentBytesMax: 20_000 } });
    for (const move of ['compact', 'write'] as const) {
      const disk = disturbed();
      const store = await openLevelStore({ directory: clean, segmentBytesMax: 20_000, ports: disk });
      disk.before = () => (move === 'compact' ? store.compact() : fill(store, model, 30));
      expect((await store.verify()).faults).to.deep.equal([]);
      expect(disk.before).to.equal(undefined);
      await store.close();
    }
  });

  const damages: Record<string, [RegExp, (home: string, model: Model) => Promise<void>]> = {
    'a spoilt row': [/checksum|cannot read/, (home, model) => spoilRows(home, model, 1)],
    'a missing CURRENT': [/cannot be opened/, (home) => unlink(join(home, 'store', 'CURRENT'))],
    'a flipped bit in a segment': [
      /is damaged from/,
      async (home) => flipBit((await filesIn(join(home, 'store-copy'), /^segment-/))[0]!, 0.4),
    ],
    'a flipped bit in the base': [
      /base image is damaged/,
      async (home) => flipBit((await filesIn(join(home, 'store-copy'), /^base-/))[0]!, 0.4),
    ],
    'a missing segment': [
      /is missing/,
      async (home) => unlink((await filesIn(join(home, 'store-copy'), /^segment-/))[0]!),
    ],
  };
  for (const [what, [fault, damage]] of Object.entries(damages)) {
    it(`names ${what}, and mends nothing`, async () => {
      const { clean, model } = await usedHome({ baseAt: 1, store: { segmentBytesMax: 100_000 } });
      await damage(clean, model);
      const copy = await fingerprint(join(clean, 'store-copy'));
      const report = await verifyStore(clean);
      expect(report.ok).to.equal(false);
      expect(report.faults.join('; ')).to.match(fault);
      expect(await fingerprint(join(clean, 'store-copy'))).to.equal(copy);
      expect((await readdir(clean)).filter((name) => name.includes('damaged'))).to.deep.equal([]);
    });
  }

  it('names an entry of the log that was changed with a right checksum', async () => {
    const home = await newHome();
    const model: Model = new Map();
    const store = await openLevelStore({ directory: home });
    await fill(store, model, 20);
    const entry = await store.get('l/0000000000000007');
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [['l/0000000000000007', entry!.replace('entry', 'ENTRY')]],
    });
    expect((await store.verify()).faults.join()).to.match(/entry 7 of the log does not follow/);
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [['l/0000000000000009', null]],
    });
    expect((await store.verify()).faults.join()).to.match(/jumps from 8 to 10/);
    await store.close();
  });

  it('refuses a folder without a store, and leaves it empty', async () => {
    const home = await newHome();
    expect((await rejection(verifyStore(home))).code).to.equal('REFUSED');
    expect(await readdir(home)).to.deep.equal([]);
  });
});

describe('scrub', () => {
  // It called the segments that the compaction had dropped missing, and replaced the second copy.
  it('takes files that a compaction removes while it reads for no damage', async () => {
    const { clean } = await usedHome({ store: { segmentBytesMax: 20_000 } });
    const disk = disturbed();
    const store = await openLevelStore({ directory: clean, scrubEveryMs: 0, ports: disk });
    disk.after = () => store.compact();
    expect((await store.scrub()).faults).to.deep.equal([]);
    expect(disk.after).to.equal(undefined);
    expect((await store.scrub()).faults).to.deep.equal([]);
    await store.close();
  });

  // A small store is through within seconds: the log of an idle gateway was nothing but "scrub finished", and
  // pushed the rest out.
  it('says nothing aloud of a pass that found nothing', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
    const store = await openLevelStore({ directory: await newHome(), scrubEveryMs: 0, log });
    await store.scrub();
    await store.close();
    expect(lines.filter((line) => line.includes('scrub'))).to.deep.equal([]);
  });

  it('mends a row that no one has read since it was spoilt', async () => {
    const { clean, model } = await usedHome({ baseAt: 1 });
    await spoilRows(clean, model, 2);
    const store = await openLevelStore({ directory: clean, scrubEveryMs: 0 });
    const report = await store.scrub();
    expect(report.faults).to.have.length(1);
    expect(store.lastScrub).to.equal(report);
    expect((await store.scrub()).faults).to.deep.equal([]);
    await audit(store, model);
    await store.close();
  });

  it('sees an entry of the log that was changed with a right checksum', async () => {
    const home = await newHome();
    const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
    await fill(store, new Map(), 20);
    const entry = await store.get('l/0000000000000007');
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [['l/0000000000000007', entry!.replace('entry', 'ENTRY')]],
    });
    expect((await store.scrub()).faults.join()).to.match(/entry 7 of the log does not follow/);
    await store.close();
  });

  it('replaces a segment or a base image that has gone bad', async () => {
    for (const [pattern, part] of [
      [/^segment-/, 0.3],
      [/^base-/, 0.6],
    ] as const) {
      const { clean, model } = await usedHome({ baseAt: 0, store: { segmentBytesMax: 50_000 } });
      await flipBit((await filesIn(join(clean, 'store-copy'), pattern))[0]!, part);
      const store = await openLevelStore({ directory: clean, scrubEveryMs: 0 });
      expect((await store.scrub()).faults).to.have.length(1);
      expect((await store.scrub()).faults).to.deep.equal([]);
      expect(await store.verify()).to.include({ ok: true });
      await store.close();
      await rm(join(clean, 'store'), { recursive: true });
      await expectWhole(clean, model);
    }
  });
});

describe('backup and restore', () => {
  it('keep what stood there at one moment while writes go on', async () => {
    const home = await newHome();
    const target = join(await newHome(), 'monday');
    const model: Model = new Map();
    const store = await openLevelStore({ directory: home });
    await fill(store, model, 100);
    const kept = new Map(model);
    const head = store.head;
    const backup = store.backUp(target);
    await fill(store, model, 20);
    const made = await backup;
    await store.close();
    expect(made.seq).to.be.within(head.seq, head.seq + 40);

    const elsewhere = join(await newHome(), 'new-home');
    await restore(target, elsewhere);
    const restored = await openLevelStore({ directory: elsewhere });
    expect(restored.head).to.deep.equal({ seq: made.seq, chain: made.chain });
    expect(await restored.verify()).to.include({ ok: true });
    if (made.seq === head.seq) await audit(restored, kept);
    await fill(restored, new Map(), 5);
    await restored.close();
  });

  it('refuse a target or a home that holds anything, and a backup that is not whole', async () => {
    const { clean } = await usedHome();
    const store = await openLevelStore({ directory: clean });
    expect((await rejection(store.backUp(clean))).code).to.equal('REFUSED');
    const target = await newHome();
    await store.backUp(target);
    await store.close();

    const occupied = await newHome();
    await mkdir(join(occupied, 'org'));
    expect((await rejection(restore(target, occupied))).message).to.match(/not empty/);
    await flipBit((await filesIn(target, /^base-/))[0]!, 0.5);
    const home = await newHome();
    expect((await rejection(restore(target, home))).message).to.match(/not a whole backup/);
    expect(await readdir(home)).to.deep.equal([]);
    await rm(join(target, 'backup.json'));
    expect((await rejection(restore(target, home))).code).to.equal('REFUSED');
    expect((await readFile(join(clean, 'store.json'), 'utf8')).length).to.be.greaterThan(0);
  });
});
