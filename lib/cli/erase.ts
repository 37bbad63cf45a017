import type { Command } from 'commander';
import type { ErasureReport } from '../commands/sessions/erase-contents.js';
import { connect, requireLong, sessionNamed } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

interface EraseOptions extends HomeOptions {
  readonly before?: string;
  readonly person?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `troupe erase SESSION | --before DATE | --person NAME`: what sessions hold goes for good. */
export function eraseCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('erase')
      .description('erase what sessions hold: messages, files, transcripts, and what the log says of them'),
  )
    .argument('[session]', 'this session')
    .option('--before <date>', 'sessions without activity since, e.g. 2026-01-31')
    .option('--person <name>', 'sessions of that employee')
    .option('--dry-run', 'show what would be erased, erase nothing')
    .option('--json', 'answer as JSON')
    .action(async (session: string | undefined, { before, person, ...options }: EraseOptions) => {
      const layout = homeOf(options, terminal);
      if (session !== undefined) requireLong(session);
      const client = await connect(layout);
      const chosen = {
        ...(session === undefined ? {} : { sessionId: await sessionNamed(client, session) }),
        ...(before === undefined ? {} : { before }),
        ...(person === undefined ? {} : { person }),
      };
      const isRehearsed = options.dryRun === true;
      const report = isRehearsed
        ? await client.get('/api/erase', { params: { query: chosen } })
        : await client.post('/api/erase', { body: chosen });
      terminal.out(options.json === true ? JSON.stringify(report) : linesOf(report, isRehearsed).join('\n'));
      if (report.skipped.length > 0 && !isRehearsed)
        throw new CommandError(
          exitCodes.failed,
          `Left as they are, because they are at work: ${report.skipped.join(', ')}. Stop them, then erase again.`,
        );
    });
}

function linesOf(report: ErasureReport, isRehearsed: boolean): readonly string[] {
  const { sessions, messages, files, logEntries, reportedTo, heldBy } = report;
  const counts = `${sessions.length} sessions, ${messages} messages, ${files} files`;
  return [
    isRehearsed ? `Would erase ${counts}.` : `Erased ${counts}, ${logEntries} log entries.`,
    ...(reportedTo.length === 0 ? [] : [`Reports of this work stay in: ${reportedTo.join(', ')}`]),
    ...(heldBy.length === 0 ? [] : ['Copies from before still hold it:']),
    ...heldBy.map(({ path, at, until }) => {
      const end = until === null ? 'until you remove it' : `until about ${until.slice(0, 10)}`;
      return `  ${path} of ${at.slice(0, 10)}, ${end}`;
    }),
    'Backups made by hand are not known here.',
  ];
}
