import type { Command } from 'commander';
import { connect } from './client.js';
import { hint, homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { printImport } from './bundle.js';
import { table } from './print.js';

type Options = HomeOptions & { readonly json?: boolean };

/** `troupe template list|add`: teams that ship with Troupe. */
export function templateCommand(program: Command, terminal: Terminal): void {
  const template = program.command('template').description('list teams that come with Troupe, and add one');
  withHome(template.command('list').description('list the teams'))
    .option('--json', 'answer as JSON')
    .action(async (options: Options) => {
      const client = await connect(homeOf(options, terminal));
      const { templates } = await client.get('/api/templates');
      if (options.json === true) return terminal.out(JSON.stringify(templates));
      terminal.out(
        table(
          ['NAME', 'EMPLOYEES', 'WORKFLOWS', 'ABOUT'],
          templates.map(({ name, employees, workflows, title }) => [
            name,
            employees.join(', '),
            workflows.join(', '),
            title,
          ]),
          'There are none.',
        ),
      );
    });
  withHome(template.command('add <name>').description('add the employees, skills and workflows of a team'))
    .option('--dry-run', 'show what it would change, and change nothing')
    .option('--replace', 'overwrite what is here and differs')
    .option('--json', 'answer as JSON')
    .action(
      async (name: string, options: Options & { readonly dryRun?: boolean; readonly replace?: boolean }) => {
        const layout = homeOf(options, terminal);
        const client = await connect(layout);
        const report = await client.post('/api/templates/{name}', {
          params: { path: { name } },
          body: { apply: options.dryRun !== true, replace: options.replace === true },
        });
        if (options.json === true) return terminal.out(JSON.stringify(report));
        printImport(report, terminal);
        if (report.applied) terminal.say(`Its workflows: ${hint(layout, 'workflow list')}`);
      },
    );
}
