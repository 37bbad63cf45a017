import { StoreError } from '../contract.js';
import { connectTo, disconnect, placeOf, type Sql } from './connection.js';

/** What an operator sees and does of a home in a database, from any machine. Nothing of it needs to own the home. */
export interface HomeStatus {
  readonly home: string;
  /** Which owner this is, counted from 1. */
  readonly epoch: number;
  /** Null where none holds it now. */
  readonly owner: {
    readonly node: string;
    /** Where standbys reach it; empty where it does not say. */
    readonly address: string;
    readonly leaseMs: number;
    readonly draining: boolean;
  } | null;
  /** Position of the last commit. */
  readonly position: number;
  /** Nodes that waited for it within the last ten seconds. */
  readonly standbys: readonly string[];
  /** Where it was moved to, out of this database; null: it is here. */
  readonly movedTo: string | null;
}

/** `await homeStatus('postgres://troupe@db/troupe?home=acme', password)` */
export function homeStatus(store: string, password?: string): Promise<HomeStatus> {
  return withHome(store, password, async (sql, home) => {
    const [row] = await sql`
      select id, owner, node, address, epoch, seq, draining, moved_to,
        extract(epoch from lease_until - clock_timestamp()) * 1000 as left_ms
      from troupe_home where name = ${home}`;
    if (row === undefined) throw unknown(home);
    const waiting = await sql`
      select node from troupe_node where home = ${Number(row['id'])}
      and seen_at > clock_timestamp() - interval '10 seconds' and node <> ${String(row['node'])} order by node`;
    const leaseMs = Math.round(Number(row['left_ms']));
    return {
      home,
      epoch: Number(row['epoch']),
      owner:
        row['owner'] !== null && leaseMs > 0
          ? {
              node: String(row['node']),
              address: String(row['address']),
              leaseMs,
              draining: row['draining'] === true,
            }
          : null,
      position: Number(row['seq']),
      standbys: waiting.map(({ node }) => String(node)),
      movedTo: row['moved_to'] === null ? null : String(row['moved_to']),
    };
  });
}

/** Ask the owner to stop and hand the home over; it hears of it when it renews its lease. */
export function drainHome(store: string, password?: string): Promise<void> {
  return withHome(store, password, async (sql, home) => {
    const rows = await sql`update troupe_home set draining = true where name = ${home} returning id`;
    if (rows.length === 0) throw unknown(home);
  });
}

/**
 * Take the home from its owner at once: whatever it does, it commits nothing more. The next one takes it over when its
 * lease would have ended: until then its agents may act, because it may not hear of this.
 */
export function fenceHome(store: string, password?: string): Promise<void> {
  return withHome(store, password, async (sql, home, leaseMs) => {
    const rows = await sql`
      update troupe_home set epoch = epoch + 1, owner = null,
        lease_until = least(lease_until, clock_timestamp() + ${`${leaseMs} milliseconds`}::interval)
      where name = ${home} returning id`;
    if (rows.length === 0) throw unknown(home);
  });
}

const unknown = (home: string): StoreError =>
  new StoreError('REFUSED', `the database has no home "${home}"; start a gateway on it first`);

async function withHome<Value>(
  store: string,
  password: string | undefined,
  work: (sql: Sql, home: string, leaseMs: number) => Promise<Value>,
): Promise<Value> {
  const place = placeOf(store);
  const sql = await connectTo(place, password, 1);
  try {
    const [made] = await sql`select to_regclass('troupe_home') is not null as whole`;
    if (made?.['whole'] !== true) throw unknown(place.home);
    return await work(sql, place.home, place.leaseMs);
  } catch (cause) {
    throw cause instanceof StoreError
      ? cause
      : new StoreError('STORE_UNAVAILABLE', `the database cannot be used: ${String(cause)}`, { cause });
  } finally {
    await disconnect(sql);
  }
}
