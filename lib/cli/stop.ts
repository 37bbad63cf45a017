import type { Command } from 'commander';
import { setTimeout as wait } from 'node:timers/promises';
import { isAlive, readAnnouncement, type Announcement } from '../home/announce.js';
import type { Layout } from '../home/layout.js';
import { endWorkers } from '../worker/end-workers.js';
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
    .option('--now', 'end also the turns that would go on without the gateway (agents.worker)')
    .action(async (session: string | undefined, options: HomeOptions & { readonly now?: true }) => {
      const layout = homeOf(options, terminal);
      if (session !== undefined) {
        const client = await connect(layout);
        await client.post('/api/sessions/{id}/stop', {
          params: { path: { id: await sessionNamed(client, session) } },
        });
        return terminal.say('Stopped the session.');
      }
      const announcement = await running(layout);
      if (announcement?.pid != null) await stopGateway(announcement, announcement.pid, layout);
      else if (options.now !== true) throw notRunning(layout);
      const { secret } = (await readAnnouncement(layout.announcement)) ?? {};
      if (announcement?.pid != null) terminal.say('Stopped.');
      if (options.now !== true) return;
      const { ended, left } = await endWorkers(layout.run, secret ?? '');
      if (left > 0)
        throw new CommandError(
          exitCodes.failed,
          `Turns may go on in ${left === 1 ? 'a process' : `${left} processes`} that could not be ended; without a ` +
            'gateway they end within 15 minutes.',
        );
      terminal.say(ended === 0 ? 'No turn went on.' : 'Ended the turns that went on.');
    });
}

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
