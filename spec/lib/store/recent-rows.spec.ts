import { expect } from 'chai';
import { join } from 'node:path';
import { commitPipeline } from '../../../lib/store/commit-pipeline.js';
import { nodeFiles } from '../../../lib/store/files.js';
import { openLevelStore } from '../../../lib/store/level.js';
import { openDatabase } from '../../../lib/store/database.js';
import { origin } from '../../../lib/store/frame.js';
import { openSegmentWriter } from '../../../lib/store/segment-writer.js';
import { groupAfter } from '../../../lib/testing/store-contract.js';
import { newHome } from './homes.js';

/**
 * A compaction may hold LevelDB up for a while. What was acknowledged meanwhile must be seen by the one who reads
 * a single row, at once: every new actor's id is looked up before its creation, and no request should wait for a
 * compaction.
 */
describe('rows on their way into LevelDB', () => {
  it("are known before LevelDB has them, the last word first, and are LevelDB's afterwards", async () => {
    const home = await newHome();
    const level = await openDatabase(nodeFiles, join(home, 'store'), { create: 'new' });
    let open = (): void => undefined;
    const valve = new Promise<void>((resolve) => {
      open = resolve;
    });
    const writer = await openSegmentWriter({
      files: nodeFiles,
      directory: home,
      place: { segment: 'first', offset: 0 },
    });
    const pipeline = commitPipeline({
      database: {
        ...level,
        apply: async (frames, position) => {
          await valve;
          await level.apply(frames, position);
        },
      },
      writer,
      position: origin,
      onFailure: (reason) => {
        throw new Error(reason);
      },
    });
    const write = async (ops: [string, string | null][]): Promise<void> =>
      pipeline.write(groupAfter(pipeline.durable, 1, ops));
    try {
      await write([
        ['a/x/1', '"old"'],
        ['a/x/2', '"gone soon"'],
      ]);
      await write([
        ['a/x/1', '"new"'],
        ['a/x/2', null],
        ['b/x/1', '"other table"'],
      ]);
      expect([pipeline.durable.seq, pipeline.applied.seq], 'durable, and in LevelDB').to.deep.equal([2, 0]);
      const told = ['a/x/1', 'a/x/2', 'b/x/1', 'a/x/3'].map((key) => pipeline.recent(key));
      expect(told).to.deep.equal(['"new"', null, '"other table"', undefined]);
      open();
      await pipeline.readable();
      expect(pipeline.recent('a/x/1')).to.equal(undefined);
      expect([level.get('a/x/1'), level.get('a/x/2')]).to.deep.equal(['"new"', undefined]);
    } finally {
      open();
      await pipeline.drain();
      await writer.close();
      await level.close();
    }
  });

  // A checkpoint that named a place further on would let the next start pass over groups that LevelDB never
  // got.
  it('lie behind the place that a checkpoint may name', async () => {
    const home = await newHome();
    const level = await openDatabase(nodeFiles, join(home, 'store'), { create: 'new' });
    const valves: (() => void)[] = [];
    const writer = await openSegmentWriter({
      files: nodeFiles,
      directory: home,
      place: { segment: 'first', offset: 0 },
    });
    const applied: (() => void)[] = [];
    const pipeline = commitPipeline({
      database: {
        ...level,
        apply: async (frames, position) => {
          await new Promise<void>((resolve) => {
            valves.push(resolve);
            applied.shift()?.();
          });
          await level.apply(frames, position);
        },
      },
      writer,
      position: origin,
      onFailure: (reason) => {
        throw new Error(reason);
      },
    });
    const write = async (key: string): Promise<number> => {
      await pipeline.write(groupAfter(pipeline.durable, 1, [[key, '1']]));
      return writer.place.offset;
    };
    const ends = [await write('a/x/1'), await write('a/x/2'), await write('a/x/3')];
    const next = new Promise<void>((resolve) => {
      applied.push(resolve);
    });
    valves[0]?.();
    await next; // the first is in LevelDB, the others are on their way
    expect([pipeline.applied.seq, pipeline.appliedPlace.offset]).to.deep.equal([1, ends[0]]);
    valves[1]?.();
    await pipeline.drain();
    expect([pipeline.applied.seq, pipeline.appliedPlace.offset]).to.deep.equal([3, ends[2]]);
    await writer.close();
    await level.close();
  });

  it('hold writes up only while there are too many of them, not for ever once so many have been written', async () => {
    const store = await openLevelStore({ directory: await newHome() });
    const page = '"'.padEnd(500_000, 'x') + '"';
    // 20 MB, of which 16 may wait
    for (let n = 0; n < 40; n += 1) await store.write(groupAfter(store.head, 1, [[`a/x/${n % 4}`, page]]));
    expect(store.head.seq).to.equal(40);
    await store.close();
  });
});
