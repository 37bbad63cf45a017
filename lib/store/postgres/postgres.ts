import type { Logger } from 'pino';
import { backUp, type Backup } from '../backup.js';
import { StoreError, type Store, type StoreState } from '../contract.js';
import { inspectRows, type RowReport } from '../inspect-rows.js';
import type { Database } from '../database.js';
import { storePorts, type StorePorts } from '../ports.js';
import { commitsOf } from './commits.js';
import {
  connectTo,
  disconnect,
  isPassing,
  placeOf,
  readersOf,
  unusable,
  type PostgresPlace,
  type Readers,
  type Sql,
} from './connection.js';
import { knownPosition, type KnownPosition, type PositionKeeper } from './known-position.js';
import { leaseClock, prepare, release, renew, type Claim } from './lease.js';
import { checkHome, claimOrWait, readersMax } from './claim-or-wait.js';
import { readsOf, walkHome } from './reads.js';
import type { HomeState } from './seen-home.js';

/** How a home in a database is opened. */
export interface PostgresStoreOptions {
  /** `postgres://troupe@db.example/troupe?home=acme&lease=3` */
  readonly url: string;
  /** This process, as others see it. */
  readonly node?: string;
  /** Where clients reach it. */
  readonly address?: string;
  /** Where ownership and failures are reported. Default: nowhere. */
  readonly log?: Logger;
  /** The disk, for backups, and time; the real ones where absent. */
  readonly ports?: Partial<StorePorts>;
  /** Default: PGPASSWORD of the environment. */
  readonly password?: string | undefined;
  /**
   * Another process owns the home. Answer a signal to wait for it until that aborts. Absent: LOCKED at once.
   */
  readonly onOwned?: (owner: string) => AbortSignal;
  /** Each time it was looked at while it is waited for, at most ten times a second but in a hand-over. @internal */
  readonly onWait?: (home: HomeState) => void;
  /** An operator wants the home handed over: stop, and close the store. */
  readonly onDrain?: () => void;
  /** How far this node has seen the log reach. Absent: it remembers that only as long as the store is open. */
  readonly positions?: PositionKeeper;
}

/** A store in a database: what the port promises, and what an operator may ask of it. */
export interface PostgresStore extends Store {
  /** Whether this process owns the home now, by its lease. */
  authority(): boolean;
  /** For how many milliseconds more it does, if the lease is prolonged no more. */
  authorityMs(): number;
  /** Which owner of the home this is, counted from 1. */
  readonly epoch: number;
  /** Known to this owner and to who reads the database alone. @internal */
  readonly ownerKey: string;
  /** Read every row and check the log from end to end, as of one moment. */
  verify(): Promise<RowReport>;
  /** Write everything, as of one moment, to a new folder: the backup of a LevelDB store. */
  backUp(target: string): Promise<Backup>;
}

/**
 * Open a home in PostgreSQL as its owner. Throws LOCKED while another process owns it, REFUSED where a person is
 * needed (the database went back, say), STORE_UNAVAILABLE where the database cannot be reached.
 * `const store = await openPostgresStore({ url: 'postgres://troupe@localhost/troupe' })`
 * @example const store = await postgresStore({ url: 'postgres://troupe@localhost/troupe' });
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const place = placeOf(options.url);
  const ports = storePorts(options.ports);
  const { clock } = ports;
  // Each connects when it is first used
  const readers = readersOf(() => connectTo(place, options.password, readersMax));
  const connectWriter: Parts['connectWriter'] = (patienceMs = place.leaseMs) =>
    connectTo(place, options.password, 1, { patienceMs, onClosed: () => readers.renew() });
  const writer = await connectWriter();
  try {
    const lease = leaseClock(clock, place.leaseMs);
    const id = await prepare(writer, place);
    const known = await knownPosition(options.positions, place.home);
    const { from, claimed } = await claimOrWait({ writer, readers, id, place, lease, clock, options, known });
    lease.prolonged(from);
    return liveStore({ known, options, place, ports, lease, claimed, writer, connectWriter, readers });
  } catch (error) {
    await Promise.all([disconnect(writer), readers.end()]);
    throw unusable(error);
  }
}

const patienceMsMax = 30_000;

interface Parts {
  readonly known: KnownPosition;
  readonly options: PostgresStoreOptions;
  readonly place: PostgresPlace;
  readonly ports: StorePorts;
  readonly lease: ReturnType<typeof leaseClock>;
  readonly claimed: Claim;
  readonly writer: Sql;
  /** Another one, where it broke. */
  readonly connectWriter: (patienceMs?: number) => Promise<Sql>;
  readonly readers: Readers;
}

function liveStore({
  options,
  place,
  ports,
  lease,
  claimed,
  known,
  connectWriter,
  readers,
  ...parts
}: Parts): PostgresStore {
  const { clock } = ports;
  const { leaseMs } = place;
  const { log } = options;
  const listeners = new Set<(state: StoreState) => void>();
  const closing = new AbortController();
  let { writer } = parts;
  let state: StoreState = { state: 'ready' };
  let closed: Promise<void> | undefined;
  let recovering: Promise<void> | undefined;

  const become = (next: StoreState): void => {
    if (state.state === 'lost') return;
    state = next;
    for (const listener of listeners) {
      try {
        listener(next);
      } catch (error) {
        log?.error({ err: error }, 'store listener threw');
      }
    }
  };
  const lose = (reason: string): void => {
    if (state.state === 'lost') return;
    log?.warn({ home: place.home, epoch: claimed.epoch, reason }, 'home was lost');
    commits.stop(new StoreError('LOST', reason));
    become({ state: 'lost', reason });
    closing.abort();
  };
  const unusable = (): StoreError | undefined => {
    if (closed !== undefined) return new StoreError('STORE_UNAVAILABLE', 'the store is closed');
    if (state.state === 'lost') return new StoreError('LOST', state.reason);
    return state.state === 'ready' ? undefined : new StoreError('STORE_UNAVAILABLE', state.reason);
  };
  const commits = commitsOf({
    claim: claimed,
    leaseMs,
    lease,
    sql: () => writer,
    onBroken: (error) => void recover(error),
    onRefused: (error) => {
      log?.error({ err: error }, 'database refused a commit');
      become({ state: 'recovering', reason: 'the database refused a commit' });
      queueMicrotask(() => become({ state: 'ready' }));
    },
    onLost: lose,
    closedBy: unusable,
  });

  /** A broken connection: reach the database again, prove that the home is still ours, settle what is open. */
  function recover(error: unknown): Promise<void> {
    if (state.state === 'lost') return Promise.resolve();
    recovering ??= reconnect(error).finally(() => (recovering = undefined));
    return recovering;
  }

  async function reconnect(cause: unknown): Promise<void> {
    log?.warn({ err: cause }, 'connection to the database was lost; reconnecting');
    become({ state: 'recovering', reason: 'the connection to the database was lost' });
    for (let tries = 0; !closing.signal.aborted; tries += 1) {
      try {
        await disconnect(writer);
        // A database that is slow to take connections would never be reached if each try gave up as soon as the first
        const patienceMs = Math.min(leaseMs * 2 ** tries, patienceMsMax);
        writer = await connectWriter(patienceMs);
        await answered(prolong(), patienceMs);
        if (state.state !== 'lost') await answered(commits.again(), patienceMs);
        return become({ state: 'ready' });
      } catch (error) {
        log?.warn({ err: error, tries }, 'database could not be reached; retrying');
        await pause(Math.min(100 * 2 ** tries, 1_000));
      }
    }
  }

  const pause = (ms: number): Promise<void> =>
    clock.wait(ms, { signal: closing.signal, background: true }).catch(() => undefined);

  async function prolong(): Promise<void> {
    const from = lease.moment();
    known.reached(commits.position); // what is settled later may not be in the answer
    const held = await renew(writer, claimed, leaseMs);
    if (held === undefined) return lose(await whyLost());
    try {
      known.see(held.position);
    } catch (error) {
      return lose((error as StoreError).message);
    }
    lease.prolonged(from);
    if (held.isDraining) options.onDrain?.();
  }

  /** This node's own take-over can be among what a database has lost. */
  async function whyLost(): Promise<string> {
    const fault: unknown = await checkHome(writer, claimed.id, known, options.node).catch(
      (error: unknown) => error,
    );
    const isLoss = fault instanceof StoreError && fault.code === 'REFUSED';
    return isLoss ? fault.message : 'another node took it over';
  }

  /** Commits prolong the lease by themselves; where none come it is done here. */
  async function keepLease(): Promise<void> {
    while (!closing.signal.aborted) {
      await pause(leaseMs / 3);
      if (closing.signal.aborted || recovering !== undefined) continue;
      await answered(prolong()).catch((error: unknown) => recover(error));
      await keepPosition(); // what is acknowledged until the next time is known to this process, and to its standbys
    }
  }

  const keepPosition = (): Promise<void> =>
    known
      .keep({ isRefused: state.state === 'lost' })
      .catch((error: unknown) => log?.warn({ err: error }, 'the position of the log could not be kept'));

  /** A connection that swallows requests is as good as broken. */
  function answered(request: Promise<void>, patienceMs = leaseMs): Promise<void> {
    return Promise.race([
      request,
      clock.wait(patienceMs, { background: true }).then(() => {
        throw new StoreError('STORE_UNAVAILABLE', 'the database does not answer');
      }),
    ]);
  }
  void keepLease();

  async function read<Value>(from: () => Promise<Value>): Promise<Value> {
    if (closed !== undefined) throw new StoreError('STORE_UNAVAILABLE', 'the store is closed');
    try {
      return await from();
    } catch (cause) {
      throw isPassing(cause) || closed !== undefined
        ? new StoreError('STORE_UNAVAILABLE', `the database cannot be read: ${String(cause)}`, { cause })
        : cause;
    }
  }

  async function shut(): Promise<void> {
    await Promise.race([commits.drained(), clock.wait(leaseMs, { background: true })]);
    closing.abort();
    commits.stop(new StoreError('STORE_UNAVAILABLE', 'the store is closed'));
    await recovering;
    known.reached(commits.position);
    const released =
      state.state === 'ready' &&
      answered(release(writer, claimed)).catch((error: unknown) =>
        log?.warn({ err: error }, 'lease could not be given back; it ends by itself'),
      );
    await Promise.all([keepPosition(), released]);
    await Promise.all([readers.end(1), disconnect(writer, 1)]);
  }

  const reads = readsOf(() => readers.current, claimed.id);
  const database = {
    async *walk() {
      yield* walkHome(await readers.current, claimed.id);
    },
  } as Pick<Database, 'walk'> as Database;
  return {
    get head() {
      return commits.head;
    },
    get state() {
      return state;
    },
    epoch: claimed.epoch,
    ownerKey: claimed.owner,
    authority: () => state.state !== 'lost' && closed === undefined && lease.holds,
    authorityMs: () => (state.state !== 'lost' && closed === undefined ? lease.leftMs : 0),
    write: (group) => commits.write(group),
    get: (key) => read(() => reads.get(key)),
    getMany: (wanted) => read(() => reads.getMany(wanted)),
    page: (range) => read(() => reads.page(range)),
    count: (range) => read(() => reads.count(range)),
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => (closed ??= shut()),
    verify: () => read(() => inspectRows(database)),
    backUp: (target) => read(() => backUp(ports, database, target)),
  };
}
