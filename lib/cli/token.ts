import type { Command } from 'commander';
import { systemEnvironment } from '../environment.js';
import { announce, readAnnouncement, secretsOf } from '../home/announce.js';
import { running } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

/** `troupe token rotate`: the operator's token and the hook secret of a stopped gateway become new ones. */
export function tokenCommand(program: Command, terminal: Terminal): void {
  const token = program.command('token').description("the operator's token");
  withHome(
    token
      .command('rotate')
      .description('replace the token and the hook secret of a stopped gateway; the old ones stop working'),
  ).action(async (options: HomeOptions) => {
    const layout = homeOf(options, terminal);
    const now = await running(layout);
    if (now !== undefined)
      throw new CommandError(
        exitCodes.failed,
        `The gateway of this home runs with the token (${now.url}). Stop it first: troupe stop.`,
      );
    const before = await readAnnouncement(layout.announcement);
    if (before === undefined)
      throw new CommandError(exitCodes.failed, 'There is no token yet; the first start creates it.');
    const { random } = systemEnvironment();
    await announce(layout.announcement, { ...before, ...secretsOf(undefined, () => random.secret(32)) });
    terminal.say(
      'Replaced. Scripts read the new token from gateway.json. Re-create the bindings of workflows; ' +
        'paired browsers stay paired.',
    );
  });
}
