import { Option, type Command } from 'commander';
import { connect, given } from './client.js';
import { homeOf, withHome, wholeNumber, type HomeOptions, type Terminal } from './command-line.js';
import { table } from './print.js';

interface Sum {
  readonly costUsd: number;
  readonly sessions: number;
  readonly turns: number;
}

/** `troupe cost`: what the sessions have cost, as far as the engines tell. */
export function costCommand(program: Command, terminal: Terminal): void {
  withHome(
    program.command('cost').description('show what sessions have cost, the most expensive group first'),
  )
    .addOption(
      new Option('--by <group>', 'how to group')
        .choices(['employee', 'engine', 'model', 'day'])
        .default('employee'),
    )
    .option('--since <date>', 'only sessions active from this day on, e.g. 2026-11-01')
    .option('--limit <number>', 'at most so many groups', wholeNumber(1, 100), 20)
    .option('--json', 'answer as JSON')
    .action(async (options: CostOptions) => {
      const client = await connect(homeOf(options, terminal));
      const query = given({ groupBy: options.by, limit: String(options.limit), since: options.since });
      const report = await client.get('/api/cost/report', { params: { query } });
      if (options.json === true) return terminal.out(JSON.stringify(report));
      const row = (name: string, { costUsd, sessions, turns }: Sum): string[] => [
        name,
        `$${costUsd.toFixed(2)}`,
        String(sessions),
        String(turns),
      ];
      terminal.out(
        table(
          [options.by.toUpperCase(), 'COST', 'SESSIONS', 'TURNS'],
          report.groups.length === 0
            ? []
            : [...report.groups.map((group) => row(group.key ?? '-', group)), row('total', report.totals)],
          'No sessions yet.',
        ),
      );
    });
}

interface CostOptions extends HomeOptions {
  readonly by: 'employee' | 'engine' | 'model' | 'day';
  readonly since?: string;
  readonly limit: number;
  readonly json?: boolean;
}
