import { join } from 'node:path';
import { backUp } from './backup.js';
import { StoreError, type Head, type StoreState } from './contract.js';
import type { BaseFile } from './copy-files.js';
import { DamageError, type Database } from './database.js';
import type { LevelStore, LevelStoreOptions } from './level-options.js';
import { lockHome } from './lock.js';
import { storePorts, type StorePorts } from './ports.js';
import { consultedMax, deathsMax, noteOpening, provenAfterMs, type OpeningNote } from './opening-note.js';
import { recoverHome, type Opened, type RecoverOptions } from './recover.js';
import type { ScrubReport } from './scrub.js';
import { beginSession, threadOf, type Session } from './session.js';
import type { Upkeep } from './upkeep.js';
import { verifyInUse } from './verify.js';

export type { LevelStore, LevelStoreOptions } from './level-options.js';

/**
 * Open the store of a home: LevelDB, with segment files beside it that carry the durability.
 * Throws LOCKED (another process has it; nothing was touched), REFUSED (a person is needed, nothing was
 * changed) or STORE_UNAVAILABLE (the disk did not let it). `const store = await openLevelStore({directory:
 * home, log})`
 * @example const store = await levelStore({ directory: 'home' });
 */
export async function openLevelStore(options: LevelStoreOptions): Promise<LevelStore> {
  const { log } = options;
  const ports = storePorts(options.ports);
  let unlock = (): Promise<void> => Promise.resolve();
  let note: OpeningNote | undefined;
  try {
    await ports.files.mkdir(options.directory);
    // The locks of a process are told apart by the text of their path, so a home must have one.
    const home = await ports.files.realpath(options.directory);
    unlock = await lockHome(ports, home);
    note = await noteOpening(ports, home);
    const opened = await openNoted({ ...options, ports, home }, note);
    return await liveStore(ports, { ...options, directory: home }, opened, note, unlock);
  } catch (error) {
    await note?.withdraw().catch(() => undefined);
    await unlock();
    // A home that another process holds is that process's, and so is its log.
    if (!(error instanceof StoreError && error.code === 'LOCKED'))
      log?.error({ err: error }, 'store could not be opened');
    throw error instanceof StoreError
      ? error
      : new StoreError(
          'STORE_UNAVAILABLE',
          `the store in ${options.directory} cannot be opened: ${String(error)}`,
          {
            cause: error,
          },
        );
  }
}

/** After deaths that had no witness the database is made again, where the second copy can. */
async function openNoted(options: RecoverOptions, note: OpeningNote): Promise<Opened> {
  if (note.deaths < deathsMax) return recoverHome(options);
  const distrust = `the last ${note.deaths} starts ended soon after opening it`;
  try {
    const opened = await recoverHome({
      ...options,
      distrust,
      suspected: true,
      consult: note.deaths < consultedMax, // a process that dies over it has one death more at the next start
    });
    await note.renewed();
    return opened;
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'REFUSED')) throw error;
    options.log?.error({ err: error }, 'store was suspect and could not be rebuilt; opened as it is');
    return recoverHome(options);
  }
}

async function liveStore(
  ports: StorePorts,
  options: LevelStoreOptions,
  first: Opened,
  note: OpeningNote,
  unlock: () => Promise<void>,
): Promise<LevelStore> {
  const { directory: home, log } = options;
  const { files, clock } = ports;
  const copy = join(home, 'store-copy');
  const closing = new AbortController();
  const listeners = new Set<(state: StoreState) => void>();
  let state: StoreState = { state: 'ready' };
  const thread = threadOf(options);
  let session = await beginSession(ports, first, options, recover, thread);
  let recovering: Promise<void> | undefined;
  /** The present try to reopen: readers wait for it, not for the pauses between tries. */
  let attempt: Promise<void> = Promise.resolve();
  let closed: Promise<void> | undefined;
  /** The copy from which a rebuild was refused, by its base image: another try for each bad row would only stop writes. */
  let refusing: BaseFile | null | undefined;
  const isIncurable = (): boolean => refusing !== undefined && refusing?.file === session.upkeep.base?.file;
  let lastScrub: ScrubReport | undefined;
  let scrubbing: Promise<unknown> | undefined;

  const become = (next: StoreState): void => {
    state = next;
    for (const listener of listeners) {
      try {
        listener(next);
      } catch (error) {
        log?.error({ err: error }, 'store listener threw');
      }
    }
  };

  /** Stop acknowledging, close, reopen, verify, go on. Resolves when that has succeeded or been given up. */
  function recover(reason: string, cause: unknown): Promise<void> {
    recovering ??= reopen(
      reason,
      cause instanceof DamageError && !isIncurable() ? cause.message : undefined,
    ).finally(() => (recovering = undefined));
    return recovering;
  }

  async function reopen(reason: string, distrust: string | undefined): Promise<void> {
    const old = session;
    log?.warn({ reason, distrust }, 'store paused for recovery');
    old.pipeline.stop(reason);
    become({ state: 'recovering', reason });
    let doubted = distrust;
    let refused: BaseFile | null | undefined;
    for (let tries = 0; !closing.signal.aborted; tries += 1) {
      const turn = tryOnce();
      attempt = turn.then(() => undefined);
      attempt.catch(() => undefined);
      try {
        session = await turn;
        if (refused !== undefined) refusing = refused; // where that copy is still the one
        log?.info({ seq: session.pipeline.applied.seq }, 'store resumed');
        return become({ state: 'ready' });
      } catch (error) {
        if (error instanceof StoreError && error.code === 'REFUSED') {
          if (doubted === undefined) return become({ state: 'failed', reason: error.message });
          // It cannot be repaired, but what is sound in it can still be used.
          doubted = undefined;
          refused = old.upkeep.base;
          continue;
        }
        log?.warn({ err: error, tries }, 'store could not be reopened; retrying');
        await clock
          .wait(Math.min(250 * 2 ** tries, 5_000), { signal: closing.signal })
          .catch(() => undefined);
      }
    }

    async function tryOnce(): Promise<Session> {
      await old.pipeline.drain();
      await old.upkeep.stop();
      await old.writer.abandon();
      await thread?.end();
      await old.database.close();
      return beginSession(
        ports,
        await recoverHome({
          ...options,
          ports,
          home,
          written: old.pipeline.durable,
          ...(doubted === undefined ? {} : { distrust: doubted }),
        }),
        options,
        recover,
        thread,
      );
    }
  }

  /**
   * Read all that is durable; where that meets damage, repair the store from its second copy and read again.
   */
  async function read<Value>(from: (database: Database) => Value | Promise<Value>): Promise<Value> {
    if (closed) throw new StoreError('STORE_UNAVAILABLE', 'the store is closed');
    await session.pipeline.readable();
    return readNow(from);
  }

  async function readNow<Value>(from: (database: Database) => Value | Promise<Value>): Promise<Value> {
    if (state.state === 'failed') throw new StoreError('STORE_UNAVAILABLE', state.reason);
    if (state.state === 'recovering')
      await attempt.catch((cause: unknown) =>
        Promise.reject(new StoreError('STORE_UNAVAILABLE', 'the store is recovering', { cause })),
      );
    try {
      return await from(session.database);
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
      if (!isIncurable()) await recover(error.message, error);
      try {
        return await from(session.database);
      } catch (again) {
        throw again instanceof DamageError
          ? new StoreError('CORRUPT', `${again.message}, and no second copy could repair it`, {
              cause: again,
            })
          : again;
      }
    }
  }

  /**
   * Single rows wait for no one: what is on its way into LevelDB is known, however long a compaction holds it
   * up.
   */
  function readRows(keys: readonly string[]): Promise<(string | undefined)[]> {
    if (closed) return Promise.reject(new StoreError('STORE_UNAVAILABLE', 'the store is closed'));
    if (keys.length > singleRowsMax) return read((database) => database.getMany(keys));
    return readNow((database) =>
      keys.map((key) => {
        const recent = session.pipeline.recent(key);
        return recent === undefined ? database.get(key) : (recent ?? undefined);
      }),
    );
  }

  /** Upkeep on demand. LevelDB takes no writes after a flush that failed, so it is reopened. */
  async function tended(task: (upkeep: Upkeep) => Promise<void>): Promise<void> {
    if (closed || state.state !== 'ready')
      throw new StoreError('STORE_UNAVAILABLE', 'the store is not ready');
    await task(session.upkeep).catch((error: unknown) => {
      void recover('upkeep of the store failed', error);
      throw new StoreError('STORE_UNAVAILABLE', `upkeep of the store failed: ${String(error)}`, {
        cause: error,
      });
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
      await clock
        .wait(passed ? scrubEveryMs * restPieces : scrubEveryMs, { signal: closing.signal, background: true })
        .catch(() => undefined);
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
  clock
    .wait(provenAfterMs, { signal: closing.signal, background: true })
    .then(() => note.proven())
    .catch((error: unknown) => {
      if (!closing.signal.aborted) log?.warn({ err: error }, 'store could not record its healthy opening');
    });

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
        await session.writer
          .abandon()
          .catch((error: unknown) =>
            log?.warn({ err: error }, 'store could not clean up after a failed write'),
          );
      }
    } finally {
      await thread?.close();
      await session.database.close();
      await note
        .proven()
        .catch((error: unknown) => log?.warn({ err: error }, 'store could not record its close'));
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
    write: (group) =>
      closed
        ? Promise.reject(new StoreError('STORE_UNAVAILABLE', 'the store is closed'))
        : session.pipeline.write(group),
    get: (key) => readRows([key]).then(([value]) => value),
    getMany: readRows,
    page: (range) => read((database) => database.page(range)),
    count: (range) => read((database) => database.count(range)),
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => (closed ??= shut()),
    freeBytes: () =>
      files.freeBytes(home).catch((cause: unknown) => {
        throw new StoreError('STORE_UNAVAILABLE', `the free space is unknown: ${String(cause)}`, {
          cause,
        });
      }),
    checkpoint: () => tended((upkeep) => upkeep.checkpoint()),
    async compact() {
      await tended((upkeep) => upkeep.replaceCopy());
      await tended(() => session.database.rewrite());
    },
    backUp: (target, { onProgress } = {}) => read((database) => backUp(ports, database, target, onProgress)),
    verify: (how) =>
      read(
        async (database) =>
          (await thread?.verify(copy, how)) ?? (await verifyInUse(files, database, copy, how)),
      ),
    async scrub() {
      await session.pipeline.readable(); // anyone who asks means what was acknowledged before
      try {
        while (!(await scrubOn()));
      } catch (cause) {
        if (cause instanceof StoreError) throw cause;
        throw new StoreError('STORE_UNAVAILABLE', `the check was interrupted: ${String(cause)}`, { cause });
      }
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
