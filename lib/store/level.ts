import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { backUp } from './backup.js';
import { StoreError, type Head, type StoreState } from './contract.js';
import { surveyCopy } from './copy-files.js';
import { DamageError, type Database } from './database.js';
import { freeBytes } from './disk.js';
import type { LevelStore, LevelStoreOptions } from './level-options.js';
import { lockHome } from './lock.js';
import { recoverHome, type Opened } from './recover.js';
import type { ScrubReport } from './scrub.js';
import { beginSession, type Session } from './session.js';
import type { Upkeep } from './upkeep.js';
import { verifyCopies } from './verify.js';

export type { LevelStore, LevelStoreOptions, StoreFiles } from './level-options.js';

/**
 * Open the store of a home: LevelDB, with segment files beside it that carry the durability.
 * Throws LOCKED (another process has it; nothing was touched), REFUSED (a person is needed, nothing was changed) or
 * STORE_UNAVAILABLE (the disk did not let it). `const store = await openLevelStore({directory: home, log})`
 */
export async function openLevelStore(options: LevelStoreOptions): Promise<LevelStore> {
  const { directory: home, log } = options;
  await mkdir(home, { recursive: true, mode: 0o700 });
  const unlock = await lockHome(home);
  try {
    return await liveStore(options, await recoverHome({ ...options, home }), unlock);
  } catch (error) {
    await unlock();
    log?.error({ err: error }, 'store could not be opened');
    throw error instanceof StoreError ? error : new StoreError('STORE_UNAVAILABLE', `the store in ${home} cannot be opened: ${String(error)}`, { cause: error });
  }
}

async function liveStore(options: LevelStoreOptions, first: Opened, unlock: () => Promise<void>): Promise<LevelStore> {
  const { directory: home, log } = options;
  const copy = join(home, 'store-copy');
  const closing = new AbortController();
  const listeners = new Set<(state: StoreState) => void>();
  let state: StoreState = { state: 'ready' };
  let session = await beginSession(first, options, recover);
  let recovering: Promise<void> | undefined;
  /** The present try to reopen: readers wait for it, not for the pauses between tries. */
  let attempt: Promise<void> = Promise.resolve();
  let closed: Promise<void> | undefined;
  /** A rebuild was tried and refused: another one for each bad row would only stop the writes. */
  let incurable = false;
  let lastScrub: ScrubReport | undefined;
  let scrubbing: Promise<unknown> | undefined;

  const become = (next: StoreState): void => {
    state = next;
    for (const listener of listeners) {
      try {
        listener(next);
      } catch (error) {
        log?.error({ err: error }, 'a listener to the store threw');
      }
    }
  };

  /** Stop acknowledging, close, reopen, verify, go on. Resolves when that has succeeded or been given up. */
  function recover(reason: string, cause: unknown): Promise<void> {
    recovering ??= reopen(reason, cause instanceof DamageError && !incurable ? cause.message : undefined).finally(() => (recovering = undefined));
    return recovering;
  }

  async function reopen(reason: string, distrust: string | undefined): Promise<void> {
    const old = session;
    log?.warn({ reason, distrust }, 'store stopped to look at itself');
    old.pipeline.stop(reason);
    become({ state: 'recovering', reason });
    let doubted = distrust;
    for (let tries = 0; !closing.signal.aborted; tries += 1) {
      const turn = tryOnce();
      attempt = turn.then(() => undefined);
      attempt.catch(() => undefined);
      try {
        session = await turn;
        log?.info({ seq: session.pipeline.applied.seq }, 'store goes on');
        return become({ state: 'ready' });
      } catch (error) {
        if (error instanceof StoreError && error.code === 'REFUSED') {
          if (doubted === undefined) return become({ state: 'failed', reason: error.message });
          // It cannot be mended, but what is sound in it can still be used.
          incurable = true;
          doubted = undefined;
          continue;
        }
        log?.warn({ err: error, tries }, 'store could not be reopened yet');
        await wait(Math.min(250 * 2 ** tries, 5_000), undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }

    async function tryOnce(): Promise<Session> {
      await old.pipeline.drain();
      await old.upkeep.stop();
      await old.writer.abandon();
      await old.database.close();
      return beginSession(await recoverHome({ ...options, home, ...(doubted === undefined ? {} : { distrust: doubted }) }), options, recover);
    }
  }

  /** Read all that is durable; where that meets damage, mend the store from its second copy and read again. */
  async function read<Value>(from: (database: Database) => Value | Promise<Value>): Promise<Value> {
    if (closed) throw new StoreError('STORE_UNAVAILABLE', 'the store is closed');
    await session.pipeline.readable();
    return readNow(from);
  }

  async function readNow<Value>(from: (database: Database) => Value | Promise<Value>): Promise<Value> {
    if (state.state === 'failed') throw new StoreError('STORE_UNAVAILABLE', state.reason);
    if (state.state === 'recovering') await attempt.catch((cause: unknown) => Promise.reject(new StoreError('STORE_UNAVAILABLE', 'the store is recovering', { cause })));
    try {
      return await from(session.database);
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
      if (!incurable) await recover(error.message, error);
      try {
        return await from(session.database);
      } catch (again) {
        throw again instanceof DamageError ? new StoreError('CORRUPT', `${again.message}, and no second copy could heal it`, { cause: again }) : again;
      }
    }
  }

  /** Single rows wait for nobody: what is on its way into LevelDB is known, however long a compaction holds it up. */
  function readRows(keys: readonly string[]): Promise<(string | undefined)[]> {
    if (closed) return Promise.reject(new StoreError('STORE_UNAVAILABLE', 'the store is closed'));
    if (keys.length > singleRowsMax) return read((database) => database.getMany(keys));
    return readNow((database) => keys.map((key) => {
      const recent = session.pipeline.recent(key);
      return recent === undefined ? database.get(key) : recent ?? undefined;
    }));
  }

  /** Upkeep on demand. LevelDB takes no writes after a flush that failed, so it is reopened. */
  async function tended(task: (upkeep: Upkeep) => Promise<void>): Promise<void> {
    if (closed || state.state !== 'ready') throw new StoreError('STORE_UNAVAILABLE', 'the store is not ready');
    await task(session.upkeep).catch((error: unknown) => {
      void recover('upkeep of the store failed', error);
      throw new StoreError('STORE_UNAVAILABLE', `upkeep of the store failed: ${String(error)}`, { cause: error });
    });
  }

  const scrubOn = async (): Promise<boolean> => {
    const { scrubber: checker } = session;
    const ended = await checker.step();
    if (ended) lastScrub = checker.last;
    return ended;
  };
  /** In small pieces with long pauses; a step that fails with the store is taken again later. */
  const scrubForever = async (): Promise<void> => {
    const { scrubEveryMs = 2_000 } = options;
    let passed = false;
    while (scrubEveryMs > 0 && !closing.signal.aborted) {
      await wait(passed ? scrubEveryMs * restPieces : scrubEveryMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      if (closing.signal.aborted || state.state !== 'ready') continue;
      const step = scrubOn().catch((error: unknown) => {
        log?.warn({ err: error }, 'scrub was interrupted');
        return false;
      });
      scrubbing = step;
      passed = await step;
    }
  };
  void scrubForever();

  const shut = async (): Promise<void> => {
    closing.abort();
    await recovering;
    await scrubbing;
    // What was accepted is finished; after that nothing is.
    await session.pipeline.drain();
    session.pipeline.stop('the store is closed');
    await session.upkeep.stop();
    try {
      if (state.state === 'ready') {
        await session.writer.close();
        await session.upkeep.checkpoint(true);
      } else {
        // What a refused write left must not be found, and taken for a commit, at the next start.
        await session.writer.abandon().catch((error: unknown) => log?.warn({ err: error }, 'store could not clean up after a failed write'));
      }
    } finally {
      await session.database.close();
      await unlock();
    }
  };

  return {
    get head(): Head {
      const { seq, chain } = session.pipeline.durable;
      return { seq, chain };
    },
    get state() {
      return state;
    },
    write: (group) => (closed ? Promise.reject(new StoreError('STORE_UNAVAILABLE', 'the store is closed')) : session.pipeline.write(group)),
    get: (key) => readRows([key]).then(([value]) => value),
    getMany: readRows,
    page: (range) => read((database) => database.page(range)),
    count: (range) => read((database) => database.count(range)),
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => (closed ??= shut()),
    freeBytes: () => freeBytes(home),
    checkpoint: () => tended((upkeep) => upkeep.checkpoint()),
    compact: () => tended((upkeep) => upkeep.compact()),
    backUp: (target, { onProgress } = {}) => read((database) => backUp(database, target, onProgress)),
    verify: (how) => read(async (database) => verifyCopies(database, copy, await surveyCopy(copy), how)),
    async scrub() {
      await session.pipeline.readable(); // whoever asks means what was acknowledged before
      while (!(await scrubOn()));
      return lastScrub!;
    },
    get lastScrub() {
      return lastScrub;
    },
  };
}

const singleRowsMax = 16;
/** After a whole pass, rest for as long as so many pieces take: ten minutes. */
const restPieces = 300;
