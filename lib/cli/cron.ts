import type { Command } from 'commander';
import { connect } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { table } from './print.js';
import { timesOf, withTimes, type TimeOptions } from './times.js';

type Options = HomeOptions & TimeOptions & { readonly json?: boolean };

/** `troupe cron [list|run|pause|resume]`: the cron jobs, and one of them now. */
export function cronCommand(program: Command, terminal: Terminal): void {
  const cron = program.command('cron').description('show and control cron jobs');
  const command = (usage: string, about: string): Command =>
    withHome(cron.command(usage).description(about)).option('--json', 'answer as JSON');

  withTimes(command('list', 'list cron jobs with their next and latest runs')).action(
    async (options: Options) => {
      const layout = homeOf(options, terminal);
      const client = await connect(layout);
      const jobs = await client.get('/api/cron');
      if (options.json === true) return terminal.out(JSON.stringify(jobs));
      const times = await timesOf(layout, options);
      terminal.out(
        table(
          ['ID', 'SCHEDULE', 'NEXT', 'LAST', 'NAME'],
          jobs.map(({ id, schedule, enabled, nextRunAt, running, lastRun, name }) => [
            id,
            schedule,
            !enabled ? 'paused' : nextRunAt === null ? '-' : times.dateAndTime(nextRunAt),
            running > 0 ? 'running' : (lastRun?.status ?? '-'),
            name,
          ]),
          'No cron jobs yet. "troupe help cron" shows how to create one.',
        ),
      );
    },
  );
  command('run <id>', 'run a job now, even if it is paused').action(async (id: string, options: Options) => {
    const client = await connect(homeOf(options, terminal));
    const answer = await client.post('/api/cron/{id}/trigger', { params: { path: { id } } });
    terminal.out(options.json === true ? JSON.stringify(answer) : `Started ${id}.`);
  });
}
