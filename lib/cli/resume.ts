import type { Command } from 'commander';
import { connect, sessionNamed } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { plainText } from './print.js';
import { allWaiting } from './waiting.js';

/** `troupe resume`: turns that were interrupted go on, each as a new turn that is told so. */
export function resumeCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('resume')
      .description('go on with interrupted sessions, where the end of the gateway cut their turns off'),
  )
    .argument('[session...]', 'ids of sessions, or the beginnings of them')
    .option('--all', 'all that "troupe waiting" shows as resume')
    .action(async (typed: readonly string[], options: HomeOptions & { readonly all?: true }) => {
      if (typed.length > 0 === (options.all === true))
        throw new CommandError(exitCodes.usage, 'Name the sessions to resume, or say --all.');
      const client = await connect(homeOf(options, terminal));
      const ids = options.all
        ? (await allWaiting(client)).filter(({ what }) => what === 'resume').map(({ id }) => id)
        : await Promise.all(typed.map((id) => sessionNamed(client, id)));
      if (ids.length === 0) return terminal.say('Nothing waits to be resumed.');
      let refused = 0;
      for (const id of new Set(ids)) {
        const path = { params: { path: { id } } };
        await client.post('/api/sessions/{id}/resume', path).then(
          ({ title }) => terminal.out(`Resumed ${id.slice(0, 8)}: ${plainText(title ?? '')}`),
          (error: Error) => {
            refused += 1; // the others go on
            terminal.say(`${id.slice(0, 8)}: ${plainText(error.message)}`);
          },
        );
      }
      if (refused > 0)
        throw new CommandError(exitCodes.refused, `${refused} of ${ids.length} could not be resumed.`);
    });
}
