import type { Command } from 'commander';
import { setTimeout as wait } from 'node:timers/promises';
import { isAlive } from '../home/announce.js';
import { connect, notRunning, running } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { CommandError, exitCodes } from './failure.js';
import { sessionNamed } from './session-named.js';

/** `troupe stop`: asks the gateway of this home to drain and waits until it is gone. */
export function stopCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('stop')
      .description('stop the gateway of this home, work in progress is kept; or one session'),
  )
    .argument('[session]', 'stop the turn of this session alone, and empty its queue')
    .action(async (session: string | undefined, options: HomeOptions) => {
      const layout = homeOf(options, terminal);
      if (session !== undefined) {
        const client = await connect(layout);
        await client.post('/api/sessions/{id}/stop', {
          params: { path: { id: await sessionNamed(client, session) } },
        });
        return terminal.say('Stopped the session.');
      }
      const announcement = await running(layout);
      if (announcement?.pid == null) throw notRunning(layout);
      process.kill(announcement.pid, 'SIGTERM');
      for (const until = performance.now() + patienceMs; performance.now() < until;) {
        if (!(await isAlive(announcement))) {
          terminal.say('Stopped.');
          return;
        }
        await wait(pollEveryMs);
      }
      throw new CommandError(
        exitCodes.failed,
        `Process ${announcement.pid} is still running ${patienceMs / 1000} s after the stop signal. See ` +
          `its log: ${layout.log}.`,
      );
    });
}

// The drain is bounded by ten seconds; the rest is for a slow disk.
const patienceMs = 20_000;
const pollEveryMs = 50;
