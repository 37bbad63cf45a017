import type postgres from 'postgres';
import { optionalPackage } from '../../../actors/optional-package.js';
import { StoreError } from '../contract.js';

/** How the database is reached: the driver, loaded when it is used, and what its errors mean. */
export type Sql = postgres.Sql;

/** Which home in which database. */
export interface PostgresPlace {
  /** The URL for the driver, without the parameters that are ours. */
  readonly url: string;
  /** Name of the home in the database; several homes share one. */
  readonly home: string;
  /** How long an owner that is not heard of keeps the home. */
  readonly leaseMs: number;
}

/**
 * `placeOf('postgres://troupe@db/troupe?home=acme&lease=3')`. A URL is shown to people, so a password in it is
 * refused.
 */
export function placeOf(store: string): PostgresPlace {
  // Before it is read: with ports, several hosts are no URL
  if (/^postgres(?:ql)?:\/\/(?:[^/?@]*@)?[^/?@]*,/.test(store)) throw severalHosts();
  const url = URL.canParse(store) ? new URL(store) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw new StoreError(
      'REFUSED',
      'a store is "level" or a URL such as postgres://troupe@db.example/troupe',
    );
  if (url.password !== '')
    throw new StoreError(
      'REFUSED',
      'the URL of the store holds a password: put it into PGPASSWORD, or into a file that PGPASSWORD_FILE names',
    );
  for (const name of notInUrl)
    if (url.searchParams.has(name))
      throw new StoreError('REFUSED', `the URL of the store must not set "${name}"`);
  if (url.searchParams.has('target_session_attrs')) throw severalHosts();
  const home = url.searchParams.get('home') ?? 'default';
  const seconds = Number(url.searchParams.get('lease') ?? leaseSeconds);
  if (!/^[\w.-]{1,100}$/.test(home))
    throw new StoreError('REFUSED', `invalid home ${JSON.stringify(home)} in the URL of the store`);
  if (!(seconds >= 1 && seconds <= 300))
    throw new StoreError('REFUSED', 'the lease in the URL of the store is 1 to 300 seconds');
  url.searchParams.delete('home');
  url.searchParams.delete('lease');
  return { url: url.href, home, leaseMs: seconds * 1_000 };
}

const severalHosts = (): StoreError =>
  new StoreError(
    'REFUSED',
    'the URL of the store names one address: where the database fails over to other machines, that of a proxy ' +
      'which leads to the primary (see "troupe help machines")',
  );

const leaseSeconds = 3;
/** The driver takes them from the URL over what we say: secrets that would be shown, and what durability rests on. */
const notInUrl = ['password', 'pass', 'synchronous_commit', 'statement_timeout', 'options'];

/**
 * A pool of so many connections. No statement may outlast the lease: who waits longer is no owner any more. Where one
 * was closed, the driver connects again by itself; `onClosed` hears of it.
 */
export async function connectTo(
  { url, leaseMs }: PostgresPlace,
  password: string | undefined,
  max: number,
  { patienceMs = leaseMs, onClosed }: { readonly patienceMs?: number; readonly onClosed?: () => void } = {},
): Promise<Sql> {
  const { default: connect } = await optionalPackage('postgres', () => import('postgres')).catch(
    (cause: Error) => {
      throw new StoreError('REFUSED', cause.message, { cause });
    },
  );
  return connect(url, {
    max,
    ...(password === undefined ? {} : { password }),
    connect_timeout: Math.max(1, patienceMs / 1_000),
    max_lifetime: null,
    // A query of the driver alone: where its connection breaks, no one hears of that, and the process dies
    fetch_types: false,
    backoff: () => 0.1,
    onnotice: () => undefined,
    ...(onClosed && { onclose: onClosed }),
    // What is acknowledged is on the disk, whatever the server's default is
    connection: { application_name: 'troupe', statement_timeout: leaseMs, synchronous_commit: 'on' },
    types: {
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      texts: { to: 1009, from: [], serialize: textsLiteral, parse: String },
    },
  }) as unknown as Sql; // the driver types a number read from int8 as a string
}

/** `textsLiteral(['a', 'b"c'])` is `{"a","b\\"c"}` */
const textsLiteral = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`;

/** Pools that read, of which one is in use at a time. */
export interface Readers {
  readonly current: Promise<Sql>;
  /**
   * The connection that writes was closed, and the next may lead to another machine: a former primary that lives on
   * answers those that it has, and may answer what is stale.
   */
  renew(): void;
  end(seconds?: number): Promise<void>;
}

export function readersOf(connect: () => Promise<Sql>): Readers {
  const begin = (): Promise<Sql> => {
    const pool = connect();
    pool.catch(() => undefined); // who reads hears of it
    return pool;
  };
  let current = begin();
  let isEnded = false;
  return {
    get current() {
      return current;
    },
    renew() {
      if (isEnded) return;
      const former = current;
      current = begin();
      former.then(disconnect, () => undefined);
    },
    end(seconds = 0) {
      isEnded = true;
      return current.then(
        (sql) => disconnect(sql, seconds),
        () => undefined,
      );
    },
  };
}

/** Leave a pool without waiting for what it cannot finish. */
export const disconnect = (sql: Sql, seconds = 0): Promise<void> =>
  sql.end({ timeout: seconds }).catch(() => undefined);

/**
 * Does an error say that the server was not reached, ended the connection, cannot write at the moment (a standby)
 * or gave up for its own reasons? Then the same is asked again on a new connection. Anything else is the answer.
 */
export function isPassing(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  return /^(?:08|57|40)|^25006$|^53300$|^CONNECT|^E[A-Z]+$|^EAI_/.test(code);
}

/** For people. A password or a name that is wrong does not become right by trying again. */
export const unusable = (error: unknown): StoreError =>
  error instanceof StoreError
    ? error
    : new StoreError(
        isPassing(error) ? 'STORE_UNAVAILABLE' : 'REFUSED',
        `the database cannot be used: ${String(error)}`,
        { cause: error },
      );
