import type { Command } from 'commander';
import { resolve } from 'node:path';
import { restore } from '../home/backup.js';
import { hint, homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { progressTeller } from './print.js';

/**
 * `troupe restore <source>`: a new home from a backup. Never overwrites: the home must not exist yet, or be
 * empty.
 */
export function restoreCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('restore')
      .description('restore a home from a backup; the home must be empty or not exist'),
  )
    .argument('<source>', 'folder written by troupe backup')
    .option('--json', 'answer as JSON')
    .action(async (source: string, options: HomeOptions & { readonly json?: boolean }) => {
      const layout = homeOf(options, terminal);
      const { restore: restoreStore } = await import('../store/restore.js');
      const report = await restore(resolve(source), layout, (from, home) =>
        restoreStore(from, home, { onProgress: progressTeller(terminal) }),
      );
      terminal.out(
        options.json === true
          ? JSON.stringify(report)
          : `Restored ${report.target}: the store up to ${report.seq}, ${report.files} files. Start it ` +
              `with: ${hint(layout, 'start')}`,
      );
    });
}
