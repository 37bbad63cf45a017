import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openLevelStore } from '../../../lib/store/level.js';
import { sealRow } from '../../../lib/store/database.js';
import { verifyStore } from '../../../lib/store/verify.js';
import { audit, expectWhole, fill, usedHome, type Model } from './homes.js';
import { withRawRows } from './raw-rows.js';

/**
 * Each of these is what one flipped bit in a table can do, passes the checksums of LevelDB's readers and, before rows
 * carried their keys and copies were compared, passed `verify` too; the next base image then carried it into the second
 * copy.
 */
const damages: Record<string, (home: string, model: Model) => Promise<void>> = {
  'a row lies under another key': (home, model) =>
    withRawRows(home, async (level) => {
      const key = [...model.keys()].find((name) => name.startsWith('a/'))!;
      await level.put(`${key}~`, (await level.get(key))!);
      await level.del(key);
    }),
  'a row has vanished': (home, model) =>
    withRawRows(home, (level) => level.del([...model.keys()].find((name) => name.startsWith('a/'))!)),
  'an older value has come back': (home, model) =>
    withRawRows(home, async (level) => {
      const key = [...model.keys()].find((name) => name.startsWith('a/'))!;
      await level.put(key, sealRow(key, '{"older":true}'));
    }),
  'a deleted row has come back': (home, model) =>
    withRawRows(home, async (level) => {
      const key = 'a/item/0399~';
      expect(model.has(key)).to.equal(false);
      await level.put(key, sealRow(key, '{"deleted":true}'));
    }),
  // Rows before the first key of the store were never looked at. Found by the simulation.
  'an older head lies under another key': (home) =>
    withRawRows(home, async (level) => level.put(' haad', (await level.get(' head'))!)),
  'the last row has vanished': (home, model) =>
    withRawRows(home, (level) => level.del([...model.keys()].sort().at(-1)!)),
  'the log has lost its beginning': (home) =>
    withRawRows(home, (level) => level.clear({ gte: 'l/', lt: 'l/0000000000000009' })),
};

describe('two copies that differ', () => {
  for (const [what, damage] of Object.entries(damages)) {
    for (const baseAt of [undefined, 1]) {
      it(`are noticed where ${what}${baseAt === undefined ? '' : ', behind a base image'}`, async () => {
        const { clean, model } = await usedHome(baseAt === undefined ? {} : { baseAt });
        expect((await verifyStore(clean)).faults).to.deep.equal([]);
        await damage(clean, model);
        expect((await verifyStore(clean)).faults).to.have.length(1);

        const store = await openLevelStore({ directory: clean, scrubEveryMs: 0 });
        expect((await store.scrub()).faults).to.have.length(1);
        await audit(store, model);
        expect((await store.scrub()).faults).to.deep.equal([]);
        await store.close();
        await expectWhole(clean, model);
      });
    }

    it(`never reach the second copy where ${what}`, async () => {
      const { clean, model } = await usedHome({ baseAt: 1 });
      await damage(clean, model);
      const store = await openLevelStore({ directory: clean, scrubEveryMs: 0 });
      const repaired = new Promise<void>((resolve) =>
        store.onState(({ state }) => state === 'ready' && resolve()),
      );
      await store.compact().catch(() => undefined);
      await repaired;
      await audit(store, model);
      await store.close();
      await rm(join(clean, 'store'), { recursive: true });
      await expectWhole(clean, model);
    });
  }

  it('are compared while writes go on, and nothing is found where nothing is wrong', async () => {
    const { clean, model } = await usedHome({ baseAt: 1, store: { segmentBytesMax: 50_000 } });
    const store = await openLevelStore({ directory: clean, scrubEveryMs: 0, segmentBytesMax: 50_000 });
    let writing = true;
    const writes = (async () => {
      while (writing) await fill(store, model, 5);
    })();
    for (let pass = 0; pass < 5; pass += 1) expect((await store.scrub()).faults).to.deep.equal([]);
    await store.compact();
    expect((await store.scrub()).faults).to.deep.equal([]);
    writing = false;
    await writes;
    expect((await store.verify()).faults).to.deep.equal([]);
    await store.close();
    await expectWhole(clean, model);
  });
});
