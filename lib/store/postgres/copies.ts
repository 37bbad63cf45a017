import { backUp, type Backup } from '../backup.js';
import { readBase } from '../base.js';
import { StoreError, type Head } from '../contract.js';
import type { Database } from '../database.js';
import { inspectRows, type RowReport } from '../inspect-rows.js';
import { headKey } from '../keys.js';
import { storePorts } from '../ports.js';
import { connectTo, disconnect, placeOf, unusable, type PostgresPlace, type Sql } from './connection.js';
import { claim, movedAway, prepare, release, renew, type Claim } from './lease.js';
import { columnsOf, walkHome } from './reads.js';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

/**
 * A home in a database as a whole: checked, copied out and filled, all as of one moment. Checks and copies need not
 * own it, so they go on beside a running gateway.
 */

/** Read every row and check the log from end to end. */
export const verifyPostgres = (store: string, password?: string): Promise<RowReport> =>
  withRows(store, password, (database) => inspectRows(database));

/** Write everything into a new folder, in the form of a LevelDB store's backup. */
export const backUpPostgres = (store: string, target: string, password?: string): Promise<Backup> =>
  withRows(store, password, (database) => backUp(storePorts(), database, target));

/** Fill an empty home from a backup. All of it is there, or nothing. */
export function fillPostgres(
  store: string,
  source: { readonly folder: string; readonly backup: Backup },
  password?: string,
): Promise<Head> {
  return owning(store, password, async (sql, claimed) => {
    const { id } = claimed;
    const { folder, backup } = source;
    const [found] = await sql`select seq, frame from troupe_home where id = ${id}`;
    if (Number(found?.['frame']) !== 0)
      throw new StoreError(
        'REFUSED',
        `the home "${placeOf(store).home}" in the database is not empty: name another one, with "?home=" in the URL`,
      );
    await sql.begin(async (tx) => {
      for await (const ops of readBase(storePorts().files, join(folder, backup.file))) {
        const { keys, values } = columnsOf(ops.filter(([key]) => key !== headKey));
        await tx.unsafe(
          'insert into troupe_row (home, key, value) ' +
            'select $1, put.key, put.value from unnest($2::text[], $3::text[]) as put (key, value)',
          [id, keys as string[], values as string[]],
          { prepare: true },
        );
      }
      const { seq, chain } = backup;
      await stillOwned(tx`
        update troupe_home set frame = 1, seq = ${seq}, chain = ${chain} 
        where id = ${id} and epoch = ${claimed.epoch} and owner = ${claimed.owner} returning id`);
    });
    await sql`analyze troupe_row`;
    return { seq: backup.seq, chain: backup.chain };
  });
}

/**
 * Copy a home that no one owns out, and mark it as moved once `ready` has made something of the copy: no gateway opens
 * it any more. One that was left for the same place before is copied again, for its mover may have died in between.
 */
export function leavePostgres(
  store: string,
  {
    target,
    movedTo,
    ready,
  }: { readonly target: string; readonly movedTo: string; readonly ready: () => Promise<void> },
  password?: string,
): Promise<void> {
  const leaving = async (sql: Sql, claimed: Claim): Promise<void> => {
    const database = { walk: () => walkHome(sql, claimed.id) } as Pick<Database, 'walk'> as Database;
    const report = await inspectRows(database);
    if (report.faults.length > 0)
      throw new StoreError('REFUSED', `the home is damaged: ${report.faults.join('; ')}`);
    await backUp(storePorts(), database, target);
    await ready();
    const { id, epoch, owner } = claimed;
    await stillOwned(sql`
      update troupe_home set moved_to = ${movedTo}
      where id = ${id} and epoch = ${epoch} and owner = ${owner} returning id`);
  };
  return owning(store, password, leaving, movedTo);
}

/** A copy may outlast the lease: what a gateway wrote since then is not in it. */
async function stillOwned(marking: PromiseLike<readonly unknown[]>): Promise<void> {
  if ((await marking).length === 0)
    throw new StoreError('LOCKED', 'a gateway took the home over meanwhile; stop it and move the home again');
}

async function withRows<Value>(
  store: string,
  password: string | undefined,
  work: (database: Database) => Promise<Value>,
): Promise<Value> {
  const place = placeOf(store);
  const sql = await connectTo({ ...place, leaseMs: patientMs }, password, 1);
  try {
    const [row] = await sql`select id, moved_to from troupe_home where name = ${place.home}`.catch(
      (error: unknown) => {
        if ((error as { readonly code?: unknown }).code === noSuchTable) return [];
        throw unusable(error);
      },
    );
    if (row === undefined) throw new StoreError('REFUSED', `the database has no home "${place.home}"`);
    // What is found there is sound and complete, and as old as the move
    if (row['moved_to'] !== null) throw movedAway(place.home, String(row['moved_to']));
    return await work({ walk: () => walkHome(sql, Number(row['id'])) } as Pick<Database, 'walk'> as Database);
  } finally {
    await disconnect(sql);
  }
}

/** With the lease of the home held, so that no gateway starts on it meanwhile. */
async function owning<Value>(
  store: string,
  password: string | undefined,
  work: (sql: Sql, claimed: Claim) => Promise<Value>,
  leftFor?: string,
): Promise<Value> {
  const place = { ...placeOf(store), leaseMs: moverLeaseMs };
  const sql = await connectTo({ ...place, leaseMs: patientMs }, password, 2);
  try {
    const claimed = await take(sql, place, leftFor);
    const renewing = setInterval(
      () => void renew(sql, claimed, moverLeaseMs).catch(() => undefined), // at the end it is seen
      moverLeaseMs / 3,
    );
    try {
      return await work(sql, claimed);
    } finally {
      clearInterval(renewing);
      await release(sql, claimed);
    }
  } finally {
    await disconnect(sql, 1);
  }
}

async function take(sql: Sql, place: PostgresPlace, leftFor?: string): Promise<Claim> {
  const claimant = { owner: randomUUID(), node: mover, address: '' };
  try {
    const id = await prepare(sql, place, leftFor);
    const claimed = await claim(sql, id, place, claimant, leftFor);
    if (claimed === undefined) throw await heldBy(sql, id, place.home);
    return claimed;
  } catch (error) {
    throw unusable(error);
  }
}

async function heldBy(sql: Sql, id: number, home: string): Promise<StoreError> {
  const [row] = await sql`select node from troupe_home where id = ${id}`;
  return new StoreError(
    'LOCKED',
    row?.['node'] === mover
      ? `another "${mover}" holds the home "${home}"; one that has died holds it for up to ` +
          `${moverLeaseMs / 1_000} seconds`
      : `a gateway owns the home "${home}" (node ${row?.['node'] || '(unnamed)'}); stop it first`,
  );
}

const mover = 'troupe home move';
/** One that dies keeps no one waiting for long. */
const moverLeaseMs = 15_000;

/** A copy takes as long as it takes. */
const patientMs = 300_000;

/** Of PostgreSQL: no home was ever there. */
const noSuchTable = '42P01';
