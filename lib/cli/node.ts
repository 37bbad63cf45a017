import { Argument, type Command } from 'commander';
import { setTimeout as wait } from 'node:timers/promises';
import { readConfig } from '../home/read-config.js';
import { databasePassword, embeddedStore } from '../home/store-setting.js';
import { homesOf, storeOf } from '../store/postgres/homes.js';
import { drainHome, fenceHome, homeStatus } from '../store/postgres/nodes.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { duration, table } from './print.js';

interface NodeOptions extends HomeOptions {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly to?: string;
}

/** `troupe node list|drain|fence|move`: who owns a home in PostgreSQL, who waits for it, and which homes there are. */
export function nodeCommand(program: Command, terminal: Terminal): void {
  withHome(
    program.command('node').description('show or change which node owns a home that lies in PostgreSQL'),
  )
    .addArgument(
      new Argument(
        '<action>',
        'list: owner and standbys; drain: ask the owner to hand the home over; fence: take it from an owner that ' +
          'cannot be reached; move: hand it over to one node that waits for it',
      ).choices(['list', 'drain', 'fence', 'move']),
    )
    .argument('[home]', 'name of another home in the same database (default: this one)')
    .option('--all', 'list every home of the database')
    .option('--to <node>', 'move: the node that is to own it')
    .option('--json', 'answer as JSON')
    .action(
      async (
        action: 'list' | 'drain' | 'fence' | 'move',
        name: string | undefined,
        options: NodeOptions,
      ): Promise<void> => {
        const { store: own } = await readConfig(homeOf(options, terminal).config);
        if (own === embeddedStore)
          throw new CommandError(
            exitCodes.badHome,
            'This home lies in LevelDB and has one node. "troupe home move" moves it into PostgreSQL.',
          );
        const password = databasePassword();
        if (options.all === true && action === 'list') return listAll(own, password, options, terminal);
        const store = name === undefined ? own : storeOf(own, name);
        if (action === 'drain') await drainHome(store, password);
        if (action === 'fence') await fenceHome(store, password);
        if (action === 'move') await move(store, password, options.to);
        const status = await homeStatus(store, password);
        if (options.json === true) return terminal.out(JSON.stringify(status));
        const { owner, standbys, movedTo } = status;
        const at = owner === null || owner.address === '' ? '' : ` at ${owner.address}`;
        terminal.out(
          [
            `home      ${status.home}, last commit ${status.position}`,
            owner === null
              ? `owner     none${movedTo === null ? '' : `; it was moved to ${movedTo}`}`
              : `owner     ${owner.node}${at} (epoch ${status.epoch}, lease ends in ${duration(owner.leaseMs)}` +
                `${owner.draining ? ', draining' : ''})`,
            `standbys  ${standbys.join(', ') || 'none'}`,
          ].join('\n'),
        );
      },
    );
}

async function listAll(
  store: string,
  password: string | undefined,
  { json }: NodeOptions,
  terminal: Terminal,
): Promise<void> {
  const homes = await homesOf(store, password);
  if (json === true) return terminal.out(JSON.stringify(homes));
  terminal.out(
    table(
      ['HOME', 'OWNER', 'EPOCH', 'LAST COMMIT', 'LEASE', 'STANDBYS'],
      homes.map(({ home, owner, epoch, position, leaseMs, draining, standbys, movedTo }) => [
        home,
        movedTo === null ? `${owner ?? 'none'}${draining ? ' (draining)' : ''}` : `moved to ${movedTo}`,
        String(epoch),
        String(position),
        owner === null ? '-' : duration(leaseMs),
        standbys.join(', ') || '-',
      ]),
      'The database holds no home; the first start of a gateway makes one.',
    ),
  );
}

/**
 * A home goes to the first node that asks, so that where several wait it cannot be promised which one is first: that is
 * refused, before the owner is asked for anything.
 */
async function move(store: string, password: string | undefined, to: string | undefined): Promise<void> {
  if (to === undefined)
    throw new CommandError(exitCodes.usage, 'Name the node that is to own the home: --to <node>');
  const { owner, standbys, home } = await homeStatus(store, password);
  if (owner?.node === to) return;
  if (!standbys.includes(to))
    throw new CommandError(
      exitCodes.failed,
      `Node ${to} does not wait for the home ${home}. Start a gateway on it there, then move it.`,
    );
  const others = standbys.filter((node) => node !== to);
  if (others.length > 0)
    throw new CommandError(
      exitCodes.failed,
      `${others.join(', ')} would be as quick to take the home ${home}. Stop what waits there, or use "drain".`,
    );
  await drainHome(store, password);
  for (let checks = 0; checks < checksMax; checks += 1) {
    if ((await homeStatus(store, password)).owner?.node === to) return;
    await wait(checkEveryMs);
  }
  throw new CommandError(
    exitCodes.failed,
    `Node ${to} has not taken the home over yet: see "troupe node list".`,
  );
}

const checkEveryMs = 200;
const checksMax = 300;
