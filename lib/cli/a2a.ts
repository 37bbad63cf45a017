import { Argument, type Command } from 'commander';
import { connect } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { table } from './print.js';

/** `troupe a2a [list|credential|rotate|revoke]`: employees that agents of other houses may give tasks. */
export function a2aCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('a2a')
      .description('show the employees that are offered over A2A, and let agents of others in'),
  )
    .addArgument(
      new Argument(
        '[action]',
        'list: who is offered; credential: make one for an employee; rotate: replace it; revoke: let no one in',
      )
        .choices(['list', 'credential', 'rotate', 'revoke'])
        .default('list'),
    )
    .argument('[employee]', 'of whom')
    .option('--json', 'answer as JSON')
    .action(
      async (
        action: 'list' | 'credential' | 'rotate' | 'revoke',
        employee: string | undefined,
        options: HomeOptions & { readonly json?: boolean },
      ): Promise<void> => {
        const { get, post, announcement } = await connect(homeOf(options, terminal));
        const base = announcement.publicUrl ?? announcement.url;
        if (action === 'list') {
          const { employees } = await get('/api/a2a');
          if (options.json === true) return terminal.out(JSON.stringify(employees));
          return terminal.out(
            table(
              ['EMPLOYEE', 'ADDRESS', 'CREDENTIAL', 'TASKS', 'A MINUTE'],
              employees.map(({ name, path, credentialSince, tasksMax, messagesPerMinute }) => [
                name,
                `${base}${path}`,
                credentialSince === null ? 'none' : `since ${credentialSince}`,
                String(tasksMax),
                String(messagesPerMinute),
              ]),
              'No employee is offered. Write "a2a: true" into the file of one.',
            ),
          );
        }
        if (employee === undefined)
          throw new CommandError(
            exitCodes.usage,
            'Name an employee; "troupe a2a" lists those who are offered.',
          );
        const params = { path: { name: employee } };
        if (action === 'revoke') {
          await post('/api/a2a/{name}/revoke', { params, body: {} });
          return terminal.say('Revoked. No agent of another house reaches this employee.');
        }
        const { credential } = await post('/api/a2a/{name}/credential', {
          params,
          body: { replace: action === 'rotate' },
        });
        if (options.json === true) return terminal.out(JSON.stringify({ employee, credential }));
        terminal.out(credential);
        terminal.say(
          `Shown this once. The other side sends it as a bearer, and finds the card of the employee at\n` +
            `  ${base}/a2a/${employee}/.well-known/agent-card.json`,
        );
      },
    );
}
