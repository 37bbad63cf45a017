import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { StoreError } from '../../../lib/store/contract.js';
import { codeUrl, DamageError, openDatabase, type Database } from '../../../lib/store/database.js';
import { nodeFiles } from '../../../lib/store/files.js';
import { frameWriter, type Position } from '../../../lib/store/frame.js';
import { openLevelStore, type LevelStore } from '../../../lib/store/level.js';
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
    const thread = storeThread(directory, { ...options, log: undefined });
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
    expect(await report).to.be.oneOf([true, 'StoreError']);
    await closed;
    expect(await thread.verify(copy), 'no thread begins after that').to.equal(undefined);
  });

  it('is done without where there is none', async () => {
    await expectDoneWithout(await newHome(), async (home) => pathToFileURL(join(home, 'missing.js')));
  });

  // What it was given is durable, so nothing that was acknowledged may be missing, whatever becomes of it.
  it('loses nothing when it dies, and is done without for a while', async () => {
    const home = await newHome();
    const program = await programOf(home, `port.on('message', () => process.exit(7));`);
    const model: Model = new Map();
    const states: string[] = [];
    const store = await openLevelStore({ directory: home, thread: { ...always, program } });
    store.onState(({ state }) => void states.push(state));
    for (let n = 0; n < 5_000 && states.length < 2; n += 1) await fillIfTaken(store, model);
    for (let n = 0; n < 200; n += 1) await fillIfTaken(store, model);
    await audit(store, model);
    expect(states).to.deep.equal(['recovering', 'ready']);
    await store.compact();
    expect((await store.verify()).faults).to.deep.equal([]);
    await store.close();
    await expectWhole(home, model);
  });

  // An upgrade may replace its program while the store is open, and what seals rows differently must not write to it.
  it('is not used where it is of another build', async () => {
    await expectDoneWithout(await newHome(), (home) =>
      programOf(home, `port.on('message', () => {});`, 'file:///another/build.js'),
    );
  });

  it('passes on what a host throws when it hears of progress', async () => {
    const { clean } = await usedHome();
    const { thread, copy } = await open({}, clean);
    const onProgress = (): void => {
      throw new RangeError('of the host');
    };
    expect(await failureOf(thread.verify(copy, { onProgress }))).to.be.instanceOf(RangeError);
    expect((await thread.verify(copy))?.ok).to.equal(true);
  });

  // Its answers let the process go while the store was being closed: the third start found two deaths, and set a sound
  // database aside.
  it('lets a process end when the store is closed in the middle of a verification', async () => {
    const { clean } = await usedHome();
    for (let life = 0; life < 3; life += 1)
      expect(await outputOfHost(clean, 'store.verify().catch(() => {});')).to.equal('closed');
    expect((await readdir(clean)).filter((name) => /opening|distrusted|damaged/.test(name))).to.deep.equal(
      [],
    );
  });

  // `NODE_OPTIONS=--import` is how monitoring is loaded: what it left running in the thread kept the store from closing.
  it('is no business of what a host preloads', async () => {
    const { clean } = await usedHome();
    const preload = join(clean, 'preload.mjs');
    await writeFile(
      preload,
      `import { parentPort } from 'node:worker_threads';
       setInterval(() => {}, 1000).unref();
       if (parentPort) { setInterval(() => {}, 1000); parentPort.on('message', () => {}); parentPort.postMessage('!'); }`,
    );
    const verified = 'await store.verify();';
    expect(await outputOfHost(clean, verified, { NODE_OPTIONS: `--import ${preload}` })).to.equal('closed');
    expect(await outputOfHost(clean, verified, {}, ['--import', preload])).to.equal('closed');
  });
});

async function expectDoneWithout(home: string, programIn: (home: string) => Promise<URL>): Promise<void> {
  const model: Model = new Map();
  const program = await programIn(home);
  const store = await openLevelStore({ directory: home, thread: { ...always, program } });
  await fill(store, model, 50);
  await store.compact();
  expect((await store.verify()).faults).to.deep.equal([]);
  await audit(store, model);
  await store.close();
  await expectWhole(home, model);
}

async function fillIfTaken(store: LevelStore, model: Model): Promise<void> {
  const { seq } = store.head;
  await fill(store, model, 1).catch((error: unknown) => {
    if (!(error instanceof StoreError)) throw error; // refused: nothing of it is there, nor in the model
  });
  if (store.head.seq === seq) await new Promise((resolve) => setImmediate(resolve));
}

/** A program that says it has begun. */
async function programOf(home: string, text: string, code = codeUrl): Promise<URL> {
  const path = join(home, 'program.mjs');
  await writeFile(
    path,
    `import { workerData } from 'node:worker_threads';
     const { port } = workerData;
     ${text}
     port.postMessage({ begun: true, code: ${JSON.stringify(code)} });`,
  );
  return pathToFileURL(path);
}

/** A program of its own opens a store, does something, closes it and says so. */
async function outputOfHost(
  directory: string,
  deed: string,
  env: NodeJS.ProcessEnv = {},
  flags: readonly string[] = [],
): Promise<string> {
  const text = `
    import { openLevelStore } from ${JSON.stringify(new URL('../../../lib/store/level.js', import.meta.url).href)};
    const say = (_, text) => console.log(text);
    const log = { debug() {}, info() {}, warn: say, error: say };
    const store = await openLevelStore({ ...${JSON.stringify({ directory, thread: always })}, log });
    ${deed}
    await store.close();
    console.log('closed');`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, '--input-type=module', '-e', text],
    { env: { ...process.env, ...env }, timeout: 20_000 },
  );
  return stdout.trim();
}

const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail('it did not fail'),
    (error: Error) => error,
  );
