import type { Command } from 'commander';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { restore } from '../home/backup.js';
import { restoreBackup } from '../home/backups/restore-backup.js';
import { hint, homeOf, wholeNumber, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { backupsAt, withPlace, type PlaceOptions } from './kept-backups.js';
import { progressTeller } from './print.js';

type Options = HomeOptions &
  PlaceOptions & { readonly json?: boolean; readonly backup?: string; readonly at?: number };

/**
 * `troupe restore <source>`: a new home from a copy made by hand, or from backups of the schedule. Never overwrites:
 * the home must not exist yet, or be empty.
 */
export function restoreCommand(program: Command, terminal: Terminal): void {
  withPlace(
    withHome(
      program
        .command('restore')
        .description('restore a home from a backup; the home must be empty or not exist'),
    ),
  )
    .argument(
      '<source>',
      'folder written by troupe backup, or a folder or s3://bucket/prefix of the schedule',
    )
    .option('--backup <name>', 'which backup of the schedule (default: the newest)')
    .option('--at <position>', 'the store as of this position of the log', wholeNumber(0, 999_999_999_999))
    .option('--json', 'answer as JSON')
    .action(async (source: string, options: Options) => {
      const layout = homeOf(options, terminal);
      const report = (await isCopy(source))
        ? await fromCopy(source, options, terminal)
        : await fromSchedule(source, options, terminal);
      terminal.out(
        options.json === true
          ? JSON.stringify({ ...report, also: undefined })
          : `Restored ${report.target}: the store up to ${report.seq}, ${report.files} files` +
              `${report.also}. Start it with: ${hint(layout, 'start')}`,
      );
      if (report.movedFrom !== undefined)
        terminal.say(
          `It lay in ${report.movedFrom}. The copy has its own store: "store" in its config.yaml is "level" now.`,
        );
    });
}

const isCopy = async (source: string): Promise<boolean> =>
  !source.startsWith('s3://') &&
  (await stat(join(resolve(source), 'backup.json')).catch(() => undefined)) !== undefined;

async function fromCopy(source: string, options: Options, terminal: Terminal) {
  if (options.at !== undefined || options.backup !== undefined)
    throw new CommandError(
      exitCodes.usage,
      `${source} is one copy, as of one moment: --at and --backup are for backups of the schedule.`,
    );
  const { restore: restoreStore } = await import('../store/restore.js');
  const report = await restore(resolve(source), homeOf(options, terminal), (from, home) =>
    restoreStore(from, home, { onProgress: progressTeller(terminal) }),
  );
  return { ...report, also: '' };
}

async function fromSchedule(source: string, options: Options, terminal: Terminal) {
  const layout = homeOf(options, terminal);
  const [found, ...more] = await backupsAt(source, options, layout);
  if (found === undefined || more.length > 0)
    throw new CommandError(
      exitCodes.usage,
      `${source} holds backups of ${more.length + 1} homes. Name one of them: ` +
        `${[found, ...more].map((one) => one?.at).join(', ')}`,
    );
  const { home, name, seq, files, bytes, include, movedFrom } = await restoreBackup(
    found.repository,
    layout,
    {
      name: options.backup,
      at: options.at,
      onProgress: progressTeller(terminal),
    },
  );
  const without = ['work', 'transcripts'].filter((choice) => !include.some((one) => one === choice));
  const also =
    `, of backup ${name}${include.length > 0 ? `, with ${include.join(' and ')}` : ''}` +
    `${without.length > 0 ? `, without ${without.join(' and ')}` : ''}`;
  return { target: home, backup: name, seq, files, bytes, include, movedFrom, also };
}
