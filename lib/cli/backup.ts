import type { Command } from 'commander';
import { GatewayError } from '../client/index.js';
import { resolve } from 'node:path';
import { backUp, type BackupReport } from '../home/backup.js';
import { readConfig } from '../home/read-config.js';
import { databasePassword, embeddedStore } from '../home/store-setting.js';
import { backUpNow, keptBackupCommands } from './kept-backups.js';
import { connect, running } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal, needStore } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { bytes, progressTeller } from './print.js';

/**
 * `troupe backup <target>`: the whole instance as of one moment. A live gateway makes it itself and goes on
 * working; a stopped one is opened for it. `troupe backup` alone: one of the schedule, now.
 */
export function backupCommand(program: Command, terminal: Terminal): void {
  const command = withHome(
    program
      .command('backup')
      .description('copy the whole instance, live or stopped; list and verify backups'),
  );
  keptBackupCommands(command, terminal);
  command
    .argument(
      '[target]',
      'folder to create; existing files are never overwritten (default: as backup.to says)',
    )
    .option('--json', 'answer as JSON')
    .action(async (target: string | undefined, options: HomeOptions & { readonly json?: boolean }) => {
      const layout = homeOf(options, terminal);
      if (target === undefined) return backUpNow(layout, options.json === true, terminal);
      const place = resolve(target);
      const live = (await running(layout)) !== undefined;
      const report = live ? await ofRunning() : await ofStopped();
      terminal.out(
        options.json === true
          ? JSON.stringify(report)
          : `Backed up to ${report.target}: the store up to ${report.seq}, ${report.files} files, ` +
              `${bytes(report.bytes)}.\nThe token is in it: keep it private. Working folders of sessions ` +
              '(work/) and logs are not.',
      );

      async function ofRunning(): Promise<BackupReport> {
        const client = await connect(layout);
        // Node gives up on an answer after five minutes; the gateway goes on.
        return await client
          .post('/api/backup', { body: { target: place }, timeoutMs: 295_000 })
          .catch((error: Error) => {
            if (!(error.cause instanceof GatewayError) || error.cause.code !== 'TIMEOUT') throw error;
            throw new CommandError(
              exitCodes.failed,
              'The backup takes longer than five minutes. The gateway continues it; it is complete once ' +
                `${place} exists.`,
              { cause: error },
            );
          });
      }

      async function ofStopped(): Promise<BackupReport> {
        const { store: url } = await readConfig(layout.config);
        if (url !== embeddedStore) {
          const { backUpPostgres } = await import('../store/postgres/copies.js');
          const copied = (folder: string) => backUpPostgres(url, folder, databasePassword());
          return backUp(layout, place, copied, Date.now());
        }
        // A mistyped home must not look like a good backup of nothing, nor come to be
        await needStore(layout);
        const { openLevelStore } = await import('../store/level.js');
        const store = await openLevelStore({
          directory: layout.home,
          onProgress: progressTeller(terminal),
          scrubEveryMs: 0,
        });
        try {
          return await backUp(layout, place, (folder) => store.backUp(folder), Date.now());
        } finally {
          await store.close();
        }
      }
    });
}
