import { openDestination } from '../home/backups/find-backups.js';
import { folderOf, readRecord } from '../home/backups/record.js';
import { readSecrets } from '../home/backups/secrets.js';
import type { Config } from '../home/config.js';
import type { Layout } from '../home/layout.js';
import type { Finding } from './finding.js';
import { duration } from './print.js';

/** How old the last backup is, whether it still lies where it was written to, and why there is no younger one. */
export async function backups(layout: Layout, { backup }: Config): Promise<Finding> {
  const { to, everyHours } = backup;
  if (to === null)
    return {
      grade: 'poor',
      about: 'backups',
      what: 'none are made by themselves',
      remedy: 'Name a folder on another disk, or a bucket, as backup.to in config.yaml.',
    };
  const record = await readRecord(layout);
  const last = record.to === to ? record.kept.at(-1) : undefined;
  const age = duration(Date.now() - (record.madeAt ?? 0));
  if (last === undefined || record.failed !== null)
    return {
      grade: 'bad',
      about: 'backups',
      what:
        (last === undefined ? `there is none in ${to} yet` : `the last in ${to} is ${age} old`) +
        (record.failed === null ? '' : `; the last try failed: ${record.failed.reason}`),
      remedy: 'Start the gateway, or run "troupe backup" while it runs.',
    };
  const destination = await openDestination({ ...backup, to }, await readSecrets(backup.secretsFile));
  const names = await destination.list(`${folderOf(layout, record)}/backups/`);
  const isThere = names.includes(last.name);
  if (isThere && Math.abs(Date.now() - (record.madeAt ?? 0)) < 2 * everyHours * 3_600_000)
    return { grade: 'good', about: 'backups', what: `the last is ${age} old, in ${to}` };
  return {
    grade: 'bad',
    about: 'backups',
    what: isThere
      ? `the last in ${to} is ${age} old; one is due every ${everyHours} hours`
      : `the last, ${last.name}, is no longer in ${to}`,
    remedy: 'Run "troupe backup" while the gateway runs; it says what is wrong.',
  };
}
