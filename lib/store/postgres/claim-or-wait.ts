import { randomUUID } from 'node:crypto';
import { StoreError } from '../contract.js';
import type { StoreClock } from '../ports.js';
import { isPassing, type PostgresPlace, type Readers, type Sql } from './connection.js';
import type { KnownPosition } from './known-position.js';
import { claim, homeState, standBy, type Claim, type leaseClock } from './lease.js';
import type { HomeState } from './seen-home.js';

export interface Wait {
  readonly id: number;
  readonly place: PostgresPlace;
  readonly lease: ReturnType<typeof leaseClock>;
  readonly clock: StoreClock;
  readonly writer: Sql;
  readonly readers: Readers;
  readonly known: KnownPosition;
  /** As of `PostgresStoreOptions`. */
  readonly options: {
    readonly node?: string;
    readonly address?: string;
    readonly onOwned?: ((owner: string) => AbortSignal | undefined) | undefined;
    readonly onWait?: (home: HomeState) => void;
  };
}

/**
 * A standby looks ten times a second whether the home is free, and oftener while its owner hands it over: until then
 * no one is answered. A database that is away for a while does not end its wait.
 */
export async function claimOrWait({
  writer,
  readers,
  id,
  place,
  lease,
  clock,
  options,
  known,
}: Wait): Promise<{
  readonly claimed: Claim;
  /** When it was asked for, for the lease. */
  readonly from: ReturnType<Wait['lease']['moment']>;
}> {
  const { node = '', address = '' } = options;
  const claimant = { owner: randomUUID(), node, address };
  let signal: AbortSignal | undefined;
  let quickChecks = 0;
  for (let tries = 0; ; tries += 1) {
    let pauseMs = standbyMs;
    try {
      const state = await checkHome(writer, id, known, node);
      const { isFree, isDraining } = state;
      const from = lease.moment();
      const claimed = isFree ? await claim(writer, id, place, claimant) : undefined;
      if (claimed !== undefined) return { from, claimed };
      options.onWait?.(state);
      // A disk that is full ends no wait
      if (tries % keptEvery === 0) await known.keep().catch(() => undefined);
      if (isDraining && (quickChecks += 1) < quickChecksMax) {
        pauseMs = drainingMs;
        if (quickChecks === 1) connectAll(await readers.current);
      }
      if (tries % seenEvery === 0) {
        signal = options.onOwned?.(state.name);
        if (signal === undefined || signal.aborted)
          throw new StoreError('LOCKED', `the home "${place.home}" is owned by ${state.name}`);
        await standBy(writer, id, node);
      }
    } catch (error) {
      if (signal !== undefined && !signal.aborted && isPassing(error)) pauseMs = standbyMs;
      else {
        await known.keep({ isRefused: error instanceof StoreError && error.code === 'REFUSED' });
        throw error;
      }
    }
    await clock.wait(pauseMs, signal === undefined ? {} : { signal }).catch(() => undefined);
    if (signal?.aborted !== true) continue;
    await known.keep();
    throw new StoreError('LOCKED', 'the wait for the home was ended');
  }
}

/** How the home stands. Throws REFUSED where the database has lost what was seen of it. */
export async function checkHome(sql: Sql, id: number, known: KnownPosition, node = ''): Promise<HomeState> {
  const { chainAtSeen, ...state } = await homeState(sql, id, node, known.seen?.seq);
  known.see(state.position, chainAtSeen);
  return state;
}

/** Before the home is free: to connect takes a tenth of a second, and no one is answered then. */
function connectAll(readers: Sql): void {
  for (let n = 0; n < readersMax; n += 1) readers`select 1`.catch(() => undefined); // else with the first read
}

/** Connections that read. */
export const readersMax = 4;
/** With the lease it makes the time that a take-over takes. */
const standbyMs = 100;
/** A part of the silence that clients meet in a planned hand-over. */
const drainingMs = 20;
/** An owner may not do what it was asked for. */
const quickChecksMax = 1_000;
const seenEvery = 20;
/** Once a second, as an owner does. */
const keptEvery = 10;
