import { connectTo, disconnect, placeOf } from './connection.js';
import { StoreError } from '../contract.js';

/** One home of a database, as all who share the database may see it. */
export interface HomeInDatabase {
  readonly home: string;
  /** Which owner this is, counted from 1. */
  readonly epoch: number;
  /** The node that holds it now; null: none. */
  readonly owner: string | null;
  /** What is left of the owner's lease. */
  readonly leaseMs: number;
  /** Its owner was asked to hand it over. */
  readonly draining: boolean;
  /** Position of the last commit. */
  readonly position: number;
  /** Nodes that waited for it within the last ten seconds. */
  readonly standbys: readonly string[];
  /** Where it was moved to, out of this database; null: it is here. */
  readonly movedTo: string | null;
}

/**
 * All homes of the database in which this one lies, by name, in one statement. Nothing of it needs to own any.
 * `await homesOf('postgres://troupe@db/troupe', password)`
 */
export async function homesOf(store: string, password?: string): Promise<readonly HomeInDatabase[]> {
  const sql = await connectTo(placeOf(store), password, 1);
  try {
    const [made] = await sql`select to_regclass('troupe_home') is not null as whole`;
    if (made?.['whole'] !== true) return [];
    const rows = await sql`
      select h.name, h.epoch, h.seq, h.draining, h.moved_to, h.node,
        h.owner is not null and h.lease_until > clock_timestamp() as held,
        case when h.lease_until > clock_timestamp()
          then extract(epoch from h.lease_until - clock_timestamp()) * 1000 else 0 end as left_ms,
        (select coalesce(json_agg(n.node order by n.node), '[]'::json) from troupe_node n
          where n.home = h.id and n.node <> h.node and n.seen_at > clock_timestamp() - interval '10 seconds') as waiting
      from troupe_home h order by h.name collate "C"`;
    return rows.map((row) => ({
      home: String(row['name']),
      epoch: Number(row['epoch']),
      owner: row['held'] === true ? String(row['node']) : null,
      leaseMs: row['held'] === true ? Math.round(Number(row['left_ms'])) : 0,
      draining: row['held'] === true && row['draining'] === true,
      position: Number(row['seq']),
      standbys: row['waiting'] as readonly string[],
      movedTo: row['moved_to'] === null ? null : String(row['moved_to']),
    }));
  } catch (cause) {
    throw new StoreError('STORE_UNAVAILABLE', `the database cannot be used: ${String(cause)}`, { cause });
  } finally {
    await disconnect(sql);
  }
}

/** The store of another home in the same database: `storeOf('postgres://db/troupe?home=a', 'b')` */
export function storeOf(store: string, home: string): string {
  const url = new URL(store);
  url.searchParams.set('home', home);
  placeOf(url.href); // refuses a name that no home has
  return url.href;
}
