import { Argument, type Command } from 'commander';
import { readConfig } from '../home/read-config.js';
import { databasePassword, embeddedStore } from '../home/store-setting.js';
import { drainHome, fenceHome, homeStatus } from '../store/postgres/nodes.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { duration } from './print.js';

/** `troupe node list|drain|fence`: who owns a home in PostgreSQL, and who waits for it. */
export function nodeCommand(program: Command, terminal: Terminal): void {
  withHome(
    program.command('node').description('show or change which node owns a home that lies in PostgreSQL'),
  )
    .addArgument(
      new Argument(
        '<action>',
        'list: owner and standbys; drain: ask the owner to hand the home over; fence: take it from an owner that ' +
          'cannot be reached',
      ).choices(['list', 'drain', 'fence']),
    )
    .option('--json', 'answer as JSON')
    .action(
      async (
        action: 'list' | 'drain' | 'fence',
        options: HomeOptions & { readonly json?: boolean },
      ): Promise<void> => {
        const { store } = await readConfig(homeOf(options, terminal).config);
        if (store === embeddedStore)
          throw new CommandError(
            exitCodes.badHome,
            'This home lies in LevelDB and has one node. "troupe home move" moves it into PostgreSQL.',
          );
        const password = databasePassword();
        if (action === 'drain') await drainHome(store, password);
        if (action === 'fence') await fenceHome(store, password);
        const status = await homeStatus(store, password);
        if (options.json === true) return terminal.out(JSON.stringify(status));
        const { owner, standbys } = status;
        const at = owner === null || owner.address === '' ? '' : ` at ${owner.address}`;
        terminal.out(
          [
            `home      ${status.home}, last commit ${status.position}`,
            owner === null
              ? 'owner     none'
              : `owner     ${owner.node}${at} (epoch ${status.epoch}, lease ends in ${duration(owner.leaseMs)}` +
                `${owner.draining ? ', draining' : ''})`,
            `standbys  ${standbys.join(', ') || 'none'}`,
          ].join('\n'),
        );
      },
    );
}
