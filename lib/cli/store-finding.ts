import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { movedSentence, movedStore, type Layout } from '../home/layout.js';
import { StoreError } from '../store/contract.js';
import { nodeFiles } from '../store/files.js';
import { deathsNoted } from '../store/opening-note.js';
import { databasePassword } from '../home/store-setting.js';
import { homeStatus } from '../store/postgres/nodes.js';
import type { Finding } from './finding.js';

/**
 * What the store of a stopped gateway is like. It is read in a process of its own: a damaged one can end the process
 * that opens it.
 */
export async function closedStore(layout: Layout): Promise<Finding> {
  const { home, store, storeCopy } = layout;
  const tables = await readdir(store).catch(() => undefined);
  const copy = await readdir(storeCopy).catch(() => undefined);
  if (tables === undefined && copy === undefined)
    return existsSync(movedStore(store))
      ? { grade: 'bad', about: 'store', what: movedSentence(layout), remedy: seeStore }
      : { grade: 'good', about: 'store', what: 'none yet' };
  if (tables === undefined || tables.length === 0)
    return {
      grade: 'poor',
      about: 'store',
      what: 'the database is missing; the second copy is there',
      remedy: 'The next start rebuilds it from the copy; troupe verify checks all of it.',
    };
  const deaths = await deathsNoted(nodeFiles, home);
  const checked = await check(home);
  if (deaths === undefined || checked.grade === 'bad') return checked;
  return {
    grade: 'poor',
    about: 'store',
    what:
      `${checked.what}; but the last ${deaths === 0 ? 'start' : `${deaths + 1} starts`} of the gateway ` +
      'ended without a clean stop soon after opening it',
    remedy:
      'See the log for the cause. After two such starts the next one rebuilds the database from its second copy.',
  };
}

/** Whether the database can be reached, and who owns the home in it. */
export async function sharedStore(store: string): Promise<Finding> {
  try {
    const { home, owner, position, movedTo } = await homeStatus(store, databasePassword());
    if (movedTo !== null)
      return {
        grade: 'bad',
        about: 'store',
        what: `the home "${home}" was moved to ${movedTo}`,
        remedy: seeStore,
      };
    const by = owner === null ? 'it has no owner now' : `node ${owner.node} owns it`;
    return { grade: 'good', about: 'store', what: `in PostgreSQL, last commit ${position}; ${by}` };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isNew = error instanceof StoreError && error.code === 'REFUSED';
    return { grade: isNew ? 'poor' : 'bad', about: 'store', what: error.message, remedy: seeStore };
  }
}

const seeStore = 'See "store" in config.yaml.';

async function check(home: string): Promise<Finding> {
  const { verifyApart } = await import('../store/verify-apart.js');
  try {
    const { ok, faults, rows } = await verifyApart(home, { signal: AbortSignal.timeout(checkMsMax) });
    if (ok)
      return {
        grade: 'good',
        about: 'store',
        what: `closed and intact, ${rows} records`,
      };
    return {
      grade: 'bad',
      about: 'store',
      what: faults.slice(0, 3).join('; '),
      remedy:
        'Make a copy of the home, then start the gateway: it repairs one copy from the other where ' +
        'possible. troupe verify shows details.',
    };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError')
      return {
        grade: 'good',
        about: 'store',
        what: 'closed; too large to check here. troupe verify checks every record',
      };
    if (error instanceof StoreError)
      return { grade: error.code === 'LOCKED' ? 'poor' : 'bad', about: 'store', what: error.message };
    throw error;
  }
}

const checkMsMax = 15_000;
