import { expect } from 'chai';
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../../lib/home/read-config.js';
import type { Json } from '../../../machines/outputs.js';
import { endWorkers } from '../../../lib/worker/end-workers.js';
import { openConnection } from '../../../lib/worker/connection.js';
import { openWorkers, type Workers } from '../../../lib/worker/workers.js';
import { openLevelStore } from '../../../lib/store/level.js';
import { startWorker } from '../../../lib/worker/start-worker.js';
import { keyFile } from '../../../lib/worker/wire.js';

describe('startWorker', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'start-worker-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const start = async (folder: string): Promise<string> =>
    startWorker({
      folder,
      logFile: join(root, 'worker.log'),
      engines: (await readConfig(join(root, 'config.yaml'))).engines as Json,
      enginesFolder: root,
      gatewayUrl: 'http://127.0.0.1:1',
      waitMs: 60_000,
      idleMs: 60_000,
    });

  // One file more with every turn of a home whose disk holds no sockets
  it('leaves no key of a worker that could not begin', async () => {
    const folder = join(root, 'too-long-for-a-socket-'.repeat(8));
    const fault = await start(folder).catch((error: unknown) => String(error));
    expect(fault).to.match(/ended as it began/);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  // Agents inherited them in turn, and could write into what the home holds
  it('gives the files of an open store to no worker', async () => {
    const folder = join(root, 'run');
    const store = await openLevelStore({ directory: join(root, 'store') });
    try {
      const name = await start(folder);
      const options = { redact: same, onFault: nothing, onLimits: nothing, mayLeave: () => false };
      const { pid } = await openConnection(join(folder, name), options);
      const opened = await Promise.all(
        (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
      );
      expect(opened.filter((path) => path.startsWith(join(root, 'store')))).to.deep.equal([]);
      await endWorkers(folder);
    } finally {
      await store.close();
    }
  });

  it('removes keys without a socket', async () => {
    const folder = join(root, 'run');
    await start(folder);
    await endWorkers(folder);
    await writeFile(keyFile(join(folder, 'worker-0123abcd')), 'of one that is gone');
    const name = await start(folder);
    expect((await readdir(folder)).toSorted()).to.deep.equal([name, keyFile(name)]);
    await endWorkers(folder);
  });
});

// Agents of an owner that was drained acted for seconds beside the next one: their worker came up after it had left
describe('a worker that comes up when its gateway ends', () => {
  it('is ended, and nothing is begun in it', async () => {
    const root = await mkdtemp(join(tmpdir(), 'late-worker-'));
    const folder = join(root, 'run');
    const engines = (await readConfig(join(root, 'config.yaml'))).engines as Json;
    const workers = openWorkers({
      folder,
      logFile: join(root, 'worker.log'),
      engines: { engines, enginesFolder: root, gatewayUrl: 'http://127.0.0.1:1' },
      hosted: new Set(['late']),
      redact: same,
      onFault: nothing,
    });
    const turn = { engine: { name: 'late' } } as Parameters<Workers['begin']>[0];
    const begin = (): Promise<string> =>
      Promise.resolve(workers.begin(turn, {} as never)).then(String, String);
    const beginning = begin();
    workers.leave();
    expect(await beginning).to.match(/No worker begins the turn/);
    while ((await readdir(folder)).length > 0); // its socket and its key go as it ends
    expect(await begin()).to.match(/No worker begins the turn/);
    expect(await readdir(folder)).to.deep.equal([]);
    await rm(root, { recursive: true });
  });
});

const same = <Value>(value: Value): Value => value;
const nothing = (): void => undefined;
