import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StoreError } from '../../../lib/store/contract.js';
import { DamageError, openDatabase, type Database } from '../../../lib/store/database.js';
import { nodeFiles } from '../../../lib/store/files.js';
import { frameWriter, type Position } from '../../../lib/store/frame.js';
import { openLevelStore } from '../../../lib/store/level.js';
import { storeThread, type StoreThread, type ThreadOptions } from '../../../lib/store/thread.js';
import { storeContract } from '../../../lib/testing/store-contract.js';
import { audit, expectWhole, fill, filesIn, newHome, usedHome, type Model } from './homes.js';
import { withRawRows } from './raw-rows.js';

/** All that can go there goes there. */
const always = { busyBytes: -1 };

storeContract('openLevelStore with its thread at work', async () =>
  openLevelStore({ directory: await newHome(), thread: always }),
);

describe('the thread of a store', () => {
  const opened: { readonly thread: StoreThread; readonly database: Database }[] = [];

  afterEach(async () => {
    for (const { thread, database } of opened.splice(0)) {
      await thread.close();
      await database.close();
    }
  });

  async function open(options: ThreadOptions, home?: string) {
    const directory = join(home ?? (await newHome()), 'store');
    const database = await openDatabase(nodeFiles, directory, { create: home ? 'never' : 'new' });
    const thread = storeThread(directory, options);
    opened.push({ thread, database });
    return { thread, database, copy: join(directory, '../store-copy') };
  }

  /** One frame with one row. */
  function frameOf(n: number, key: string, value: string | null): Buffer {
    const frames = frameWriter();
    frames.begin();
    frames.follow(n, { first: n, last: n, chain: '', ops: [[key, value]] }, '');
    return Buffer.from(frames.finish());
  }
  const at = (frame: number): Position => ({ frame, seq: frame, chain: '', digest: '' });

  it('puts what is durable into LevelDB once there is much of it, and every reader sees it', async () => {
    const { thread, database } = await open({ busyBytes: 100_000 });
    const applied: string[] = [];
    const apply = async (n: number, text: string): Promise<void> => {
      const frame = Buffer.from(frameOf(n, 'a/x/1', JSON.stringify(text)));
      const there = thread.apply([frame], at(n));
      applied.push(there ? 'there' : 'here');
      await (there ?? database.apply([frame], at(n)));
    };
    await apply(1, 'größer');
    expect(applied, 'a little').to.deep.equal(['here']);
    let n = 2;
    for (; applied.at(-1) === 'here'; n += 1) await apply(n, 'x'.repeat(60_000));
    await apply(n, 'größer');
    expect(applied.at(-1)).to.equal('there');
    expect(database.get('a/x/1')).to.equal('"größer"');
    expect(database.head()).to.deep.equal(at(n));
    const gone = thread.apply([frameOf(n + 1, 'a/x/2', '1'), frameOf(n + 2, 'a/x/1', null)], at(n + 2));
    await gone;
    expect(await database.page({})).to.deep.equal([['a/x/2', '1']]);
  });

  it('says of damage that it is damage', async () => {
    const { clean } = await usedHome({ baseAt: 1 });
    await withRawRows(clean, (level) => level.put('a/item/0000', '=00000000{"never":"put"}'));
    const { thread, copy } = await open({}, clean);
    const order = { directory: copy, base: null, share: 1, signal: new AbortController().signal };
    expect(await failureOf(thread.image(order))).to.be.instanceOf(DamageError);
    expect((await filesIn(copy, /new$/)).length, 'nothing is left of it').to.equal(0);
    expect((await thread.verify(copy))?.faults.join()).to.include('a/item/0000');
  });

  it('gives up a base image that is not wanted any more', async () => {
    const { clean } = await usedHome();
    const { thread, copy } = await open({}, clean);
    const wanted = new AbortController();
    // hardly ever at work: it would take hours
    const image = thread.image({ directory: copy, base: null, share: 1e-6, signal: wanted.signal });
    await thread.verify(copy); // by then the other has begun
    wanted.abort();
    expect((await failureOf(image)).name).to.equal('AbortError');
  });

  it('is closed in the middle of a verification, which fails', async () => {
    const { clean } = await usedHome();
    const { thread, copy } = await open({}, clean);
    let closed: Promise<void> | undefined;
    const report = thread.verify(copy, { onProgress: () => void (closed ??= thread.close()) }).then(
      (done) => done?.ok,
      (error: Error) => error.name,
    );
    // it may be through before it hears of the end
    expect(await report).to.be.oneOf([true, 'Error', 'StoreError']);
    await closed;
    expect(await thread.verify(copy), 'no thread begins after that').to.equal(undefined);
  });

  it('is done without where there is none', async () => {
    const home = await newHome();
    const model: Model = new Map();
    const store = await openLevelStore({
      directory: home,
      thread: { ...always, program: pathToFileURL(join(home, 'missing.js')) },
    });
    await fill(store, model, 50);
    await store.compact();
    expect((await store.verify()).faults).to.deep.equal([]);
    await store.close();
    await expectWhole(home, model);
  });

  // What it was given is durable, so nothing that was acknowledged may be missing, whatever becomes of it.
  it('loses nothing when it dies', async () => {
    const home = await newHome();
    const program = join(home, 'dies.mjs');
    await writeFile(
      program,
      `import { parentPort } from 'node:worker_threads';
       parentPort.on('message', () => process.exit(7));
       parentPort.postMessage({ begun: true });`,
    );
    const model: Model = new Map();
    const states: string[] = [];
    const store = await openLevelStore({
      directory: home,
      thread: { ...always, program: pathToFileURL(program) },
    });
    store.onState(({ state }) => void states.push(state));
    for (let n = 0; n < 5_000 && states.length < 4; n += 1) {
      const before = store.head.seq;
      await fill(store, model, 1).catch((error: unknown) => {
        if (!(error instanceof StoreError)) throw error;
        // refused: nothing of it is there, nor in the model
      });
      if (store.head.seq === before) await new Promise((resolve) => setImmediate(resolve));
    }
    await audit(store, model);
    expect(states.slice(0, 4), 'it died twice').to.deep.equal(['recovering', 'ready', 'recovering', 'ready']);
    await store.close();
    await expectWhole(home, model);
  });
});

const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail('it did not fail'),
    (error: Error) => error,
  );
