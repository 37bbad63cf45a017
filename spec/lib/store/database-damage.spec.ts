import { expect } from 'chai';
import { cp, mkdir, readFile, readdir, rm, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DamageError, type OpenDatabase } from '../../../lib/store/database.js';
import { openLevelStore } from '../../../lib/store/level.js';
import { storePorts } from '../../../lib/store/ports.js';
import { rejection } from '../../../lib/testing/store-contract.js';
import { audit, expectWhole, filesIn, fingerprint, flipBit, newHome, spoilRows, usedHome } from './homes.js';

/** Each of these lost records, silently or with every table, in a bare LevelDB. */
describe('a damaged database', () => {
  it('has every acknowledged row back after a bit flip in its log', async () => {
    // Bare LevelDB opens without a word and drops the rest of the block.
    for (const part of [0.01, 0.3, 0.6, 0.95]) {
      const { killed, model } = await usedHome();
      await flipBit((await filesIn(join(killed, 'store'), /\.log$/)).at(-1)!, part);
      await expectWhole(killed, model);
    }
  });

  it('has every acknowledged row back after its log lost its tail, or all of itself', async () => {
    for (const keep of [0, 0.5, 0.999]) {
      const { killed, model } = await usedHome({ checkpointAt: 1 });
      const log = (await filesIn(join(killed, 'store'), /\.log$/)).at(-1)!;
      await truncate(log, Math.floor((await readFile(log)).length * keep));
      await expectWhole(killed, model);
    }
  });

  it('mends a bit flip in a table when it is read, and sets the damaged one aside', async () => {
    for (const part of [0.1, 0.4, 0.7]) {
      const { clean, model } = await usedHome({ checkpointAt: 1 });
      const tables = await filesIn(join(clean, 'store'), /\.ldb$/);
      await flipBit(tables[0]!, part);
      await expectWhole(clean, model);
    }
  });

  it('mends a bit flip that only the checksum of the row can see', async () => {
    // Uncompressed rows decode without complaint; so does a block whose own checksum no one looks at.
    const { clean, model } = await usedHome({ checkpointAt: 1 });
    await spoilRows(clean, model, 3);
    await expectWhole(clean, model);
    expect((await readdir(clean)).filter((name) => name.startsWith('store.damaged-'))).to.have.length(1);
  });

  // LevelDB opened, met damage in the compaction that it begins at once, and took no write: so at every start.
  it('mends a bit flip in a table that only the compaction after an opening meets', async () => {
    const { killed, model } = await usedHome({ checkpointAt: 1 });
    const real = storePorts();
    let isDamaged = true;
    const refuse = async (): Promise<never> => {
      throw new DamageError('LevelDB found damage in a table');
    };
    const openDatabase: OpenDatabase = async (directory, options) => {
      if (options.create === 'new') isDamaged = false;
      const database = await real.openDatabase(directory, options);
      return isDamaged ? { ...database, apply: refuse, load: refuse } : database;
    };
    const store = await openLevelStore({ directory: killed, ports: { openDatabase } });
    await audit(store, model);
    await store.close();
    expect((await readdir(killed)).filter((name) => name.startsWith('store.damaged-'))).to.have.length(1);
  });

  // A sound second copy was called damaged, and the home refused for good, when the disk failed under the new database.
  // Seed 1070 of the simulation.
  it('is not refused where the database that is being rebuilt fails: the next start mends it', async () => {
    for (const fails of ['head', 'load', 'apply', 'flush'] as const) {
      const { killed, model } = await usedHome({ checkpointAt: 2, baseAt: 1 });
      await flipBit((await filesIn(join(killed, 'store'), /^MANIFEST/))[0]!, 0.5);
      const real = storePorts();
      const broken = (): never => {
        throw new DamageError('LevelDB cannot read a table');
      };
      const openDatabase: OpenDatabase = async (directory, options) => {
        const database = await real.openDatabase(directory, options);
        return options.create === 'new'
          ? { ...database, [fails]: fails === 'head' ? broken : async () => broken() }
          : database;
      };
      const failed = await rejection(openLevelStore({ directory: killed, ports: { openDatabase } }));
      expect(failed, fails).to.include({ code: 'STORE_UNAVAILABLE' });
      await expectWhole(killed, model);
    }
  });

  // A disk that fails again and again filled itself with copies of the database.
  it('keeps the three newest of what it has set aside', async () => {
    const { clean, model } = await usedHome({ checkpointAt: 1 });
    for (let n = 0; n < 4; n += 1) await mkdir(join(clean, `store.damaged-2020-01-0${n + 1}T00-00-00-000Z`));
    await unlink((await filesIn(join(clean, 'store'), /^MANIFEST/))[0]!);
    await expectWhole(clean, model);
    const aside = (await readdir(clean)).filter((name) => name.startsWith('store.damaged-')).sort();
    expect(aside.map((name) => name.slice(14, 24)).slice(0, 2)).to.deep.equal(['2020-01-03', '2020-01-04']);
    expect(aside).to.have.length(3);
  });

  const refusedByLevelDb: Record<string, (store: string) => Promise<void>> = {
    'CURRENT is emptied': (store) => writeFile(join(store, 'CURRENT'), ''),
    'CURRENT is deleted': (store) => unlink(join(store, 'CURRENT')),
    'CURRENT is zeroed': (store) => writeFile(join(store, 'CURRENT'), Buffer.alloc(16)),
    'a table is deleted': async (store) => unlink((await filesIn(store, /\.ldb$/))[0]!),
    'the MANIFEST is broken': async (store) => flipBit((await filesIn(store, /^MANIFEST/))[0]!, 0.5),
    'the MANIFEST is deleted': async (store) => unlink((await filesIn(store, /^MANIFEST/))[0]!),
    'all tables are gone': async (store) => {
      for (const table of await filesIn(store, /\.ldb$/)) await unlink(table);
    },
  };
  for (const [what, damage] of Object.entries(refusedByLevelDb)) {
    for (const end of ['killed', 'clean'] as const) {
      it(`is rebuilt in full where ${what} (${end})`, async () => {
        const homes = await usedHome({ checkpointAt: 2, baseAt: 1 });
        await damage(join(homes[end], 'store'));
        const left = (await filesIn(join(homes[end], 'store'), /\.ldb$/)).length;
        await expectWhole(homes[end], homes.model);
        const aside = (await readdir(homes[end])).filter((name) => name.startsWith('store.damaged-'));
        expect(aside).to.have.length(1);
        // Never a deleted table: what was there lies in the folder set aside.
        expect(await filesIn(join(homes[end], aside[0]!), /\.ldb$/)).to.have.length(left);
      });
    }
  }

  it('is rebuilt in full where the whole folder is missing, with progress', async () => {
    for (const baseAt of [undefined, 0, 3]) {
      const { clean, model } = await usedHome(baseAt === undefined ? {} : { baseAt });
      await rm(join(clean, 'store'), { recursive: true });
      const told: number[] = [];
      const store = await openLevelStore({
        directory: clean,
        onProgress: ({ task, rows }) => void (task === 'rebuild' && told.push(rows)),
      });
      await audit(store, model);
      await store.close();
      expect(told.at(-1)).to.be.greaterThan(0);
      await expectWhole(clean, model);
    }
  });

  it('that is older than its checkpoint (an old folder put back) is rebuilt', async () => {
    const { clean, model } = await usedHome();
    const early = await newHome();
    const store = await openLevelStore({ directory: early });
    await store.close();
    await rm(join(clean, 'store'), { recursive: true });
    await cp(join(early, 'store'), join(clean, 'store'), { recursive: true });
    await expectWhole(clean, model);
  });

  it('and a damaged second copy together are refused, with the reason, and nothing is touched', async () => {
    const { clean } = await usedHome({ baseAt: 1 });
    await unlink(join(clean, 'store', 'CURRENT'));
    await flipBit((await filesIn(join(clean, 'store-copy'), /^base-/))[0]!, 0.5);
    const before = await fingerprint(clean);
    const error = await rejection(openLevelStore({ directory: clean }));
    expect(error.code).to.equal('REFUSED');
    expect(error.message)
      .to.match(/cannot be read/)
      .and.match(/base image is damaged/)
      .and.match(/Restore a backup/);
    expect(await fingerprint(clean)).to.equal(before);
  });

  it('is never created again where the home was in use before', async () => {
    // Bare LevelDB with createIfMissing would begin an empty database here.
    const { clean } = await usedHome();
    await rm(join(clean, 'store'), { recursive: true });
    await rm(join(clean, 'store-copy'), { recursive: true });
    const error = await rejection(openLevelStore({ directory: clean }));
    expect(error.code).to.equal('REFUSED');
    expect(error.message).to.match(/was in use before/);

    const announced = await newHome();
    await writeFile(join(announced, 'gateway.json'), '{}');
    expect((await rejection(openLevelStore({ directory: announced }))).code).to.equal('REFUSED');
    expect((await readdir(announced)).sort()).to.deep.equal(['gateway.json', 'lock', 'store-copy']);
  });

  it('is never created again over tables, even where every other sign of an earlier start is gone', async () => {
    const { clean } = await usedHome({ checkpointAt: 3 });
    for (const name of ['store-copy', 'store.json', 'lock', 'store/CURRENT'])
      await rm(join(clean, name), { recursive: true });
    const before = await fingerprint(clean);
    expect((await rejection(openLevelStore({ directory: clean }))).code).to.equal('REFUSED');
    expect(await fingerprint(clean)).to.equal(before);
  });

  it('is begun again where a first start was cut short', async () => {
    const home = await newHome();
    await mkdir(join(home, 'store'));
    await writeFile(join(home, 'store', 'LOCK'), '');
    await expectWhole(home, new Map());
  });

  it('goes on serving the sound rows where no second copy can heal the damage, and says CORRUPT for the others', async () => {
    const { clean, model } = await usedHome({ baseAt: 3 });
    await flipBit((await filesIn(join(clean, 'store-copy'), /^base-/))[0]!, 0.5);
    await spoilRows(clean, model, 3);
    const store = await openLevelStore({ directory: clean });
    let corrupt = 0;
    for (const [key, value] of model) {
      const read = await store.get(key).catch((error: { code: string }) => error.code);
      if (read === 'CORRUPT') corrupt += 1;
      else expect(read).to.equal(value);
    }
    expect(corrupt).to.equal(3);
    expect(store.state.state).to.equal('ready');
    await store.close();
  });
});
