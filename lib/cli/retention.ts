import { Argument, type Command } from 'commander';
import type { RetentionStatus } from '../supervisor/contract.js';
import { connect, type Client } from './client.js';
import { hint, homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { duration } from './print.js';

/**
 * `troupe retention [allow|dismiss]`: what is held back because only the wall clock says that so much time
 * has passed, and the decision about it.
 */
export function retentionCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('retention')
      .description('show what retention by age holds back while the clock is uncertain, and release it'),
  )
    .addArgument(
      new Argument(
        '[decision]',
        'allow: the time has passed, remove what is due; dismiss: the clock was set, remove nothing',
      ).choices(['allow', 'dismiss']),
    )
    .option('--json', 'answer as JSON')
    .action(
      async (
        decision: 'allow' | 'dismiss' | undefined,
        options: HomeOptions & { readonly json?: boolean },
      ) => {
        const layout = homeOf(options, terminal);
        const client = await connect(layout);
        const before = await client.get('/api/retention');
        const status =
          decision === undefined ? before : await client.post('/api/retention', { body: { decision } });
        if (options.json === true) return terminal.out(JSON.stringify(status));
        if (decision === 'allow')
          return terminal.out(`Released ${duration(before.heldMs)}: ${loss(before)} will be removed.`);
        if (decision === 'dismiss')
          return terminal.out(`Dismissed ${duration(before.heldMs)}: nothing is removed.`);
        terminal.out(
          status.heldMs < worthShowingMs
            ? 'Nothing is held back.'
            : [
                `The clock claims ${duration(status.heldMs)} that this machine cannot verify.`,
                `Nothing is removed for that time; removal would cover ${loss(status)}.`,
                `If so much time has passed: ${hint(layout, 'retention allow')}`,
                `If the clock was set: ${hint(layout, 'retention dismiss')}`,
              ].join('\n'),
        );
      },
    );
}

/** Undefined: a gateway of an older version, which knows nothing of it. */
export const retentionOf = (client: Client): Promise<RetentionStatus | undefined> =>
  client.get('/api/retention').then(
    (status) => status as RetentionStatus,
    () => undefined,
  );

/** Clocks differ by a little, and a pause of a moment is believed in time. */
export const worthShowingMs = 3_600_000;

export const loss = ({ wouldForget: { entries, others } }: RetentionStatus): string =>
  `${entries} log entries and ${others}${others >= 10_000 ? ' or more' : ''} other things`;
