import { Argument, type Command } from 'commander';
import { connect } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { duration, table } from './print.js';

/** `troupe workers [list|drain|remove]`: the processes that run turns, and what runs where. */
export function workersCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('workers').description('show, drain or remove the processes that run turns'))
    .addArgument(
      new Argument(
        '[action]',
        'list: what runs where; drain: begin no more turns there; remove: end its turns and then it',
      )
        .choices(['list', 'drain', 'remove'])
        .default('list'),
    )
    .argument('[name]', 'of the worker, for drain and remove')
    .option('--json', 'answer as JSON')
    .action(async (action: Action, name: string | undefined, options: Options): Promise<void> => {
      const client = await connect(homeOf(options, terminal));
      if (action !== 'list') {
        if (name === undefined)
          throw new CommandError(exitCodes.usage, `Name a worker to ${action}; "troupe workers" lists them.`);
        const path = { path: { id: name } };
        await client.post(`/api/workers/{id}/${action}`, { params: path });
        return terminal.say(action === 'drain' ? 'Nothing more begins there.' : 'Removed the worker.');
      }
      const answer = await client.get('/api/workers');
      if (options.json === true) return terminal.out(JSON.stringify(answer));
      const { workers, slots, hosted } = answer;
      const now = Date.now();
      const since = (at: string): string => duration(now - Date.parse(at));
      const none = ['-', '-', '-'];
      terminal.out(
        table(
          ['WORKER', 'STATE', 'PID', 'UP', 'SESSION', 'ENGINE', 'FOR'],
          workers.flatMap(({ name: worker, state, pid, startedAt, turns }) =>
            (turns.length === 0
              ? [none]
              : turns.map((turn) => [turn.sessionId, turn.engine, since(turn.since)])
            ).map((turn) => [worker, state, String(pid), since(startedAt), ...turn]),
          ),
          'No worker runs; the first turn of an engine that outlives the gateway starts one.',
        ),
      );
      if (slots !== null)
        terminal.out(`${slots.running} of ${slots.max} slots taken, ${slots.waiting} turns wait for one`);
      terminal.out(
        hosted.length === 0
          ? 'All turns end with the gateway (agents.worker is false, or the path of the home is too long).'
          : `Turns of ${hosted.join(', ')} outlive the gateway; those of other engines end with it.`,
      );
    });
}

type Action = 'list' | 'drain' | 'remove';
type Options = HomeOptions & { readonly json?: boolean };
