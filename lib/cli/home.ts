import type { Command } from 'commander';
import { readConfig } from '../home/read-config.js';
import { movedStore } from '../home/layout.js';
import { embeddedStore } from '../home/store-setting.js';
import { running } from './client.js';
import { hint, homeOf, withHome, type HomeOptions, type Terminal, needStore } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

/** `troupe home move --to <store>`: the store of a stopped home, from LevelDB into PostgreSQL or back. */
export function homeCommand(program: Command, terminal: Terminal): void {
  const home = program.command('home').description('move the store of a home into PostgreSQL, or back');
  withHome(home.command('move').description('move the store of a stopped home'))
    .requiredOption('--to <store>', '"level", or postgres://user@host/database?home=name')
    .option('--from <store>', 'where it lies now (default: store of config.yaml)')
    .action(async (options: HomeOptions & { readonly to: string; readonly from?: string }) => {
      const layout = homeOf(options, terminal);
      const live = await running(layout);
      if (live !== undefined)
        throw new CommandError(
          exitCodes.held,
          `A gateway runs at ${layout.home} (${live.url}). Stop it first: ${hint(layout, 'stop')}`,
        );
      const { moveHome } = await import('../home/move-home.js');
      const from = options.from ?? (await readConfig(layout.config)).store;
      // A mistyped home must not look like a good move of nothing, nor come to be
      if (from === embeddedStore) await needStore(layout);
      const { seq } = await moveHome(layout, { from, to: options.to });
      const place = from === embeddedStore ? ` as ${movedStore(layout.store)}` : ' in the database';
      terminal.out(
        `Moved ${layout.home} up to ${seq} to ${options.to}.\nNow set "store: ${options.to}" in ` +
          `${layout.config}, then start. The former store is kept${place}, and is not opened any more.`,
      );
    });
}
