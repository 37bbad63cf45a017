import { chainIn } from '../chain.js';
import { StoreError } from '../contract.js';
import { keys } from '../keys.js';
import type { StoreClock } from '../ports.js';
import type { PostgresPlace, Sql } from './connection.js';
import type { Position } from './known-position.js';
import { isMade, schema, schemaFormat } from './schema.js';
import type { HomeState } from './seen-home.js';

/**
 * Who owns a home, and until when. The database's clock alone decides who may take it; the owner counts its lease
 * on its own monotonic clock, from before the request that prolonged it was sent, and gives up a little early.
 */
export interface Claim {
  readonly id: number;
  readonly epoch: number;
  readonly owner: string;
  readonly frame: number;
  readonly seq: number;
  readonly chain: string;
}

/** Of the process that claims it. */
export interface Claimant {
  readonly owner: string;
  readonly node: string;
  /** Where clients reach it. */
  readonly address: string;
}

/**
 * Make the tables where they are missing, and the row of the home. Refuses a home that was moved, to other places than
 * `leftFor`: there, its mover may have died before it was done.
 */
export async function prepare(sql: Sql, { home }: PostgresPlace, leftFor?: string): Promise<number> {
  await sql.begin(async (tx) => {
    if (!(await isMade(tx))) {
      await tx`select pg_advisory_xact_lock(7420)`; // two first starts at once
      await tx.unsafe(schema);
      await isMade(tx);
    }
    await tx`insert into troupe_home (name, format) values (${home}, ${schemaFormat}) on conflict do nothing`;
  });
  const [row] = await sql`select id, format, moved_to from troupe_home where name = ${home}`;
  if (row === undefined) throw new StoreError('STORE_UNAVAILABLE', 'the row of the home is missing');
  if (Number(row['format']) > schemaFormat)
    throw new StoreError('REFUSED', `the home was written by a newer version (format ${row['format']})`);
  if (row['moved_to'] !== null && row['moved_to'] !== leftFor) throw movedAway(home, String(row['moved_to']));
  return Number(row['id']);
}

export const movedAway = (name: string, to: string): StoreError =>
  new StoreError('REFUSED', `the home "${name}" was moved to ${to}; change "store" there`);

/** Become the owner, where no one is, or the lease of the last one has ended. Undefined: another one holds it. */
export async function claim(
  sql: Sql,
  id: number,
  { leaseMs }: PostgresPlace,
  { owner, node, address }: Claimant,
  leftFor: string | null = null,
): Promise<Claim | undefined> {
  const [row] = await sql`
    update troupe_home set epoch = epoch + 1, owner = ${owner}, node = ${node}, address = ${address},
      draining = false, lease_until = clock_timestamp() + ${`${leaseMs} milliseconds`}::interval
    where id = ${id} and lease_until < clock_timestamp() and (moved_to is null or moved_to = ${leftFor})
    returning epoch, frame, seq, chain`;
  if (row === undefined) return undefined;
  const { epoch, frame, seq, chain } = row;
  return { id, owner, epoch: Number(epoch), frame: Number(frame), seq: Number(seq), chain: String(chain) };
}

/**
 * In one statement, for it is asked for ten times a second. A node whose lease ended, because it was fenced, say, gives
 * others that wait the time to be first. Refuses a home that was moved.
 */
export async function homeState(
  sql: Sql,
  id: number,
  node: string,
  seenSeq = 0,
): Promise<HomeState & { readonly chainAtSeen: string | undefined }> {
  const [row] = await sql`
    select (select right(l.value, 55) from troupe_row l where l.home = h.id and l.key = ${keys.log(seenSeq)}) as entry,
      h.name, h.moved_to, h.node, h.epoch, h.frame, h.seq, h.chain, h.address, h.owner, h.draining,
      pg_is_in_recovery() as stale, h.lease_until >= clock_timestamp() as held, h.lease_until < clock_timestamp() -
      case when h.node = ${node} and exists (select from troupe_node n where n.home = h.id and n.node <> h.node
        and n.seen_at > clock_timestamp() - interval '5 seconds')
      then interval '1 second' else interval '0' end as free
    from troupe_home h where h.id = ${id}`;
  if (row === undefined) throw new StoreError('STORE_UNAVAILABLE', 'the row of the home is missing');
  // Not promoted yet, it may show less than it has: it is asked again
  if (row['stale'] === true)
    throw Object.assign(new Error('the database is a standby itself'), { code: '25006' });
  if (row['moved_to'] !== null) throw movedAway(String(row['name']), String(row['moved_to']));
  const owner =
    row['owner'] === null || row['held'] !== true
      ? undefined
      : {
          node: String(row['node']),
          epoch: Number(row['epoch']),
          address: String(row['address']),
          key: String(row['owner']),
        };
  return {
    name: `node ${row['node'] || '(unnamed)'} (epoch ${row['epoch']})`,
    owner,
    position: positionIn(row),
    isFree: row['free'] === true,
    isDraining: row['draining'] === true,
    chainAtSeen: chainIn(String(row['entry'])),
  };
}

/** Let `troupe node list` show who waits. */
export async function standBy(sql: Sql, id: number, node: string): Promise<void> {
  await sql`
    insert into troupe_node (home, node, seen_at) values (${id}, ${node}, clock_timestamp())
    on conflict (home, node) do update set seen_at = excluded.seen_at`;
}

/** Undefined: it has another owner. `isDraining`: it is to be handed over. */
export async function renew(
  sql: Sql,
  { id, epoch, owner }: Claim,
  leaseMs: number,
): Promise<{ readonly isDraining: boolean; readonly position: Position } | undefined> {
  const [row] = await sql`
    update troupe_home set lease_until = clock_timestamp() + ${`${leaseMs} milliseconds`}::interval
    where id = ${id} and epoch = ${epoch} and owner = ${owner} returning draining, frame, seq, chain`;
  if (row === undefined) return undefined;
  return { isDraining: row['draining'] === true, position: positionIn(row) };
}

const positionIn = (row: Readonly<Record<string, unknown>>): Position => ({
  seq: Number(row['seq']),
  chain: String(row['chain']),
  frame: Number(row['frame']),
});

/** Give it back, so that the next one need not wait. */
export async function release(sql: Sql, { id, epoch, owner }: Claim): Promise<void> {
  await sql`
    update troupe_home set lease_until = '-infinity', owner = null
    where id = ${id} and epoch = ${epoch} and owner = ${owner}`;
}

/** How long the owner itself believes in its lease. */
export function leaseClock(clock: Pick<StoreClock, 'monotonic' | 'now'>, leaseMs: number) {
  const trustedMs = leaseMs * 0.8;
  let since = moment();
  /** The longer of the two: one clock stands still while the machine sleeps, the other can be set. */
  function moment(): { readonly monotonic: number; readonly wall: number } {
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }
  const age = (): number => Math.max(clock.monotonic() - since.monotonic, clock.now() - since.wall);
  return {
    /** To be taken before a request that prolongs it is sent. */
    moment,
    /** That request was granted. */
    prolonged(from: { readonly monotonic: number; readonly wall: number }): void {
      if (from.monotonic > since.monotonic) since = from;
    },
    get holds(): boolean {
      return age() < trustedMs;
    },
    get ageMs(): number {
      return age();
    },
    /** Milliseconds until it holds no more. */
    get leftMs(): number {
      return Math.max(0, trustedMs - age());
    },
  };
}
