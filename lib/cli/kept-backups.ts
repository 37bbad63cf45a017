import type { Command } from 'commander';
import { join, resolve } from 'node:path';
import { findBackups, type FoundRepository } from '../home/backups/find-backups.js';
import { bytesOf, filesIn, type Manifest } from '../home/backups/manifest.js';
import type { Place } from '../home/backups/place.js';
import { DamagedBackup, timeOf } from '../home/backups/repository.js';
import { keyName, readSecrets } from '../home/backups/secrets.js';
import { newKey } from '../home/backups/seal.js';
import { HomeError } from '../home/home-error.js';
import type { Layout } from '../home/layout.js';
import { readConfig } from '../home/read-config.js';
import { StoreError } from '../store/contract.js';
import { connect, type Client } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { ago, bytes, table } from './print.js';
import { timesOf, withTimes, type TimeOptions } from './times.js';

/** Backups that the schedule makes: listed, restored on trial, made at once. */

/** Where they are, when it is not as config.yaml of the home says. */
export interface PlaceOptions {
  readonly endpoint?: string;
  readonly region?: string;
  readonly secrets?: string;
}

/** The same words in every command that reads backups. */
export const withPlace = (command: Command): Command =>
  command
    .option(
      '--endpoint <url>',
      'address of the server that speaks S3 (default: backup.endpoint, else Amazon)',
    )
    .option('--region <name>', 'region of the bucket (default: backup.region)')
    .option(
      '--secrets <file>',
      'private file with the keys (default: backup.secretsFile, else the environment)',
    );

/** `from`: a folder or `s3://…`; absent: backup.to of the home. */
export async function backupsAt(
  from: string | undefined,
  options: PlaceOptions,
  layout: Layout,
): Promise<readonly FoundRepository[]> {
  const { backup } = await readConfig(layout.config);
  const to = from === undefined ? backup.to : from.startsWith('s3://') ? from : resolve(from);
  if (to === null)
    throw new CommandError(
      exitCodes.usage,
      'backup.to is not set in config.yaml; name the folder or s3://bucket/prefix that holds the backups.',
    );
  const place: Place = {
    to,
    endpoint: options.endpoint ?? backup.endpoint,
    region: options.region ?? backup.region,
  };
  const file = options.secrets === undefined ? backup.secretsFile : resolve(options.secrets);
  return findBackups(place, await readSecrets(file));
}

export function keptBackupCommands(backup: Command, terminal: Terminal): void {
  withPlace(
    withTimes(
      withHome(backup.command('list').description('backups of the schedule, with the positions they hold')),
    ),
  )
    .argument('[from]', 'folder or s3://bucket/prefix (default: backup.to of the home)')
    .option('--json', 'answer as JSON')
    .action(async (from: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<
        HomeOptions & PlaceOptions & TimeOptions & { readonly json?: boolean }
      >();
      const layout = homeOf(options, terminal);
      const unreadable: Error[] = [];
      const rows: (Pick<Manifest, 'from' | 'seq' | 'include'> & {
        readonly at: string;
        readonly name: string;
        readonly files: number;
        readonly bytes: number;
        readonly encrypted: boolean;
      })[] = [];
      for (const { at, note, repository } of await backupsAt(from, options, layout))
        for (const name of await repository.names()) {
          const manifest = await repository.read(name).catch((error: unknown) => {
            if (!(error instanceof DamagedBackup)) throw error;
            unreadable.push(error); // all others are still worth knowing
          });
          if (manifest === undefined) continue;
          const { from: first, seq, include } = manifest;
          const [files, size] = [filesIn(manifest), bytesOf(manifest)];
          rows.push({ at, name, from: first, seq, files, bytes: size, include, encrypted: note.encrypted });
        }
      for (const { message } of unreadable) terminal.say(message);
      if (options.json === true) return terminal.out(JSON.stringify(rows));
      const now = Date.now();
      const times = await timesOf(layout, options);
      terminal.out(
        table(
          ['BACKUP', 'MADE', 'AGE', 'POSITIONS', 'FILES', 'SIZE', 'ALSO', 'IN'],
          rows.map((row) => [
            row.name,
            times.dateAndTime(timeOf(row.name)),
            ago(timeOf(row.name), now),
            `${row.from}–${row.seq}`,
            String(row.files),
            bytes(row.bytes),
            row.include.join(', ') || '-',
            row.at,
          ]),
          unreadable.length === 0 ? 'No backup was made yet.' : 'No backup can be read.',
        ),
      );
      if (rows.length === 0 && unreadable.length > 0) process.exitCode = exitCodes.badHome;
    });

  withPlace(withHome(backup.command('verify').description('restore backups on trial and compare every hash')))
    .argument('[name]', 'of the backup (default: the newest)')
    .option('--from <place>', 'folder or s3://bucket/prefix (default: backup.to of the home)')
    .option('--all', 'every backup')
    .action(async (name: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<
        HomeOptions & PlaceOptions & { readonly from?: string; readonly all?: boolean }
      >();
      const layout = homeOf(options, terminal);
      const { prove } = await import('../home/backups/run-job.js');
      let checked = 0;
      let damaged = 0;
      for (const { at, repository } of await backupsAt(options.from, options, layout)) {
        const names = await repository.names();
        const chosen = options.all === true ? names : names.filter((one) => one === (name ?? names.at(-1)));
        for (const one of chosen) {
          const scratch = join(layout.temporary, `backup-verify-${process.pid}`);
          checked += 1;
          try {
            await prove(repository, await repository.read(one), scratch);
            terminal.out(`${at} ${one}: restored on trial, no damage found.`);
          } catch (error) {
            // One that is damaged is a reason to know how the others are
            if (!(error instanceof HomeError || error instanceof StoreError)) throw error;
            terminal.out(`${at} ${one}: ${error.message}`);
            damaged += 1;
          }
        }
      }
      if (checked === 0)
        throw new CommandError(
          exitCodes.usage,
          name === undefined ? 'No backup was made yet.' : `No backup ${name}.`,
        );
      if (damaged === 0) return;
      terminal.say(`${damaged} of ${checked} cannot be restored.`);
      process.exitCode = exitCodes.badHome;
    });

  backup
    .command('key')
    .description('print a new key for encrypted backups, as a line for backup.secretsFile')
    .action(async () => terminal.out(`${keyName}=${await newKey()}`));
}

/** One backup of the schedule, at once: the gateway makes it. */
export async function backUpNow(layout: Layout, json: boolean, terminal: Terminal): Promise<void> {
  const client: Client = await connect(layout);
  const report = await client.post('/api/backup', { body: {}, timeoutMs: 295_000 });
  terminal.out(
    json
      ? JSON.stringify(report)
      : `Backed up to ${report.target}: the store up to ${report.seq}, ${report.files} files, ` +
          `${bytes(report.bytes)}. It was restored on trial.`,
  );
}
