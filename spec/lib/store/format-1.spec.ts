import { expect } from 'chai';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openLevelStore } from '../../../lib/store/level.js';
import { verifyStore } from '../../../lib/store/verify.js';
import { audit, expectWhole, fill, filesIn, usedHome } from './homes.js';
import { toFormat1 } from './format-1.js';
import { withRawRows } from './raw-rows.js';

/** Homes that 0.1 wrote must open for ever: without keys in the checksums of rows, without digests, without sums. */
describe('a home of format 1', () => {
  for (const baseAt of [undefined, 1])
    it(`opens, is sound, and goes on${baseAt === undefined ? '' : ', with a base image'}`, async () => {
      const { clean, model } = await usedHome(baseAt === undefined ? {} : { baseAt });
      await toFormat1(clean);
      expect((await verifyStore(clean)).faults).to.deep.equal([]);
      await expectWhole(clean, model);
      expect((await verifyStore(clean)).faults).to.deep.equal([]);
      await rm(join(clean, 'store'), { recursive: true });
      await expectWhole(clean, model);
    });

  it('is rebuilt from its second copy, and its copy is written again from the database', async () => {
    for (const lost of ['store', 'store-copy']) {
      const { clean, model } = await usedHome({ baseAt: 1 });
      await toFormat1(clean);
      await rm(join(clean, lost), { recursive: true });
      await expectWhole(clean, model);
      expect((await verifyStore(clean)).faults).to.deep.equal([]);
    }
  });

  it('has every row sealed again by the scrub, while writes go on', async () => {
    const { clean, model } = await usedHome({ baseAt: 1 });
    await toFormat1(clean);
    const store = await openLevelStore({ directory: clean, scrubEveryMs: 0 });
    const writes = fill(store, model, 20);
    expect((await store.scrub()).faults).to.deep.equal([]);
    await writes;
    await audit(store, model);
    await store.close();
    const unsealed = await withRawRows(clean, async (level) =>
      (await level.iterator().all()).filter(([, stored]) => !stored.startsWith('=')).map(([key]) => key),
    );
    expect(unsealed).to.deep.equal([]);
    expect((await verifyStore(clean)).faults).to.deep.equal([]);
  });

  it('has frames whose damage is seen', async () => {
    const { clean, model } = await usedHome();
    await toFormat1(clean);
    const path = (await filesIn(join(clean, 'store-copy'), /^segment-/))[0]!;
    const bytes = await readFile(path);
    bytes[bytes.length >> 1]! ^= 4;
    await writeFile(path, bytes);
    expect((await verifyStore(clean)).ok).to.equal(false);
    const store = await openLevelStore({ directory: clean, scrubEveryMs: 0 });
    expect((await store.scrub()).faults).to.have.length(1);
    await store.close();
    expect((await verifyStore(clean)).faults).to.deep.equal([]);
    await expectWhole(clean, model);
  });
});
