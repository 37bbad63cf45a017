import type { Command } from 'commander';
import { setTimeout as wait } from 'node:timers/promises';
import { isAlive, type Announcement } from '../home/announce.js';
import type { Layout } from '../home/layout.js';
import { askToEndTurns, endWorkers, keepWorkers } from '../worker/end-workers.js';
import { connect, notRunning, running, sessionNamed } from './client.js';
import { hint, homeOf, wholeNumber, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';

/** `troupe stop`: asks the gateway of this home to drain and waits until it is gone. */
export function stopCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('stop')
      .description('stop the gateway of this home, work in progress is kept; or one session'),
  )
    .argument('[session]', 'stop the turn of this session alone, and empty its queue')
    .option(
      '--for <minutes>',
      'how long turns may go on without a gateway (default: 15)',
      wholeNumber(1, 7 * 24 * 60),
    )
    .option('--now', 'end also the turns that would go on without the gateway')
    .action(async (session: string | undefined, options: StopOptions) => {
      const layout = homeOf(options, terminal);
      if (session !== undefined) {
        const client = await connect(layout);
        await client.post('/api/sessions/{id}/stop', {
          params: { path: { id: await sessionNamed(client, session) } },
        });
        return terminal.say('Stopped the session.');
      }
      const announcement = await running(layout);
      if (announcement?.pid != null) {
        const forget = options.now === true ? await askToEndTurns(layout.run) : undefined;
        try {
          await stopGateway(announcement, announcement.pid, layout);
        } finally {
          await forget?.();
        }
        terminal.say('Stopped.');
      } else if (options.now !== true && options.for === undefined) throw notRunning(layout);
      return options.now === true ? endTurns(layout, terminal) : keepTurns(layout, options.for, terminal);
    });
}

interface StopOptions extends HomeOptions {
  readonly for?: number;
  readonly now?: true;
}

/** Those that the gateway has left running. */
export async function endTurns(layout: Layout, terminal: Terminal): Promise<void> {
  const { ended, left } = await endWorkers(layout.run);
  if (left > 0)
    throw new CommandError(
      exitCodes.failed,
      `Turns may go on in ${left === 1 ? 'a process' : `${left} processes`} that could not be ended; without a ` +
        'gateway they end by themselves.',
    );
  terminal.say(ended === 0 ? 'No turn went on.' : 'Ended the turns that went on.');
}

async function keepTurns(layout: Layout, minutes: number = 15, terminal: Terminal): Promise<void> {
  const turns = await keepWorkers(layout.run, minutes * 60_000);
  if (turns === 0) return;
  terminal.say(turnsGoOn(turns, minutes, layout));
}

export const turnsGoOn = (turns: number, minutes: number, layout: Layout, env = process.env): string =>
  `${turns === 1 ? '1 turn goes' : `${turns} turns go`} on without the gateway, for ` +
  `${minutes === 1 ? '1 minute' : `${minutes} minutes`} at most: start it again to follow, or end them with ` +
  `${hint(layout, 'stop', '--now', env)}.`;

async function stopGateway(announcement: Announcement, pid: number, layout: Layout): Promise<void> {
  process.kill(pid, 'SIGTERM');
  for (const until = performance.now() + patienceMs; performance.now() < until;) {
    if (!(await isAlive(announcement))) return;
    await wait(pollEveryMs);
  }
  throw new CommandError(
    exitCodes.failed,
    `Process ${pid} is still running ${patienceMs / 1000} s after the stop signal. See its log: ${layout.log}.`,
  );
}

// The drain is bounded by ten seconds; the rest is for a slow disk.
const patienceMs = 20_000;
const pollEveryMs = 50;
