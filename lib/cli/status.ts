import type { Command } from 'commander';
import { readAnnouncement } from '../home/announce.js';
import { connect, notRunning, running, troubles } from './client.js';
import { engineLine, hint, homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { exitCodes } from './failure.js';
import { duration } from './print.js';
import { version } from '../version.js';
import { buildOf, otherBuilds } from './worker-finding.js';
import { allWaiting } from './waiting.js';
import { retentionOf, worthShowingMs } from './retention.js';

interface Status {
  readonly version?: string;
  readonly uptime?: number;
  readonly engines?: Readonly<Record<string, unknown>>;
  readonly sessions?: { readonly total?: number; readonly running?: number };
}

/** `troupe status`: does a gateway run at this home, and how is it. Exit code 3 when none does. */
export function statusCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('status').description('show whether a gateway runs at this home'))
    .option('--json', 'answer as JSON')
    .action(async (options: HomeOptions & { readonly json?: boolean }) => {
      const layout = homeOf(options, terminal);
      if ((await running(layout)) === undefined) {
        const earlier = await readAnnouncement(layout.announcement);
        const state =
          earlier === undefined
            ? 'never started'
            : earlier.pid === null
              ? 'stopped'
              : 'gone without a clean stop';
        if (options.json !== true) throw notRunning(layout);
        terminal.out(JSON.stringify({ running: false, state, home: layout.home }));
        process.exitCode = exitCodes.notRunning;
        return;
      }
      const client = await connect(layout);
      const status = (await client.get('/api/status')) as Status;
      const reasons = await troubles(client);
      const retention = await retentionOf(client);
      const waiting = (await allWaiting(client)).filter(({ on }) => on === 'operator').length;
      const { url, pid } = client.announcement;
      if (options.json === true) {
        terminal.out(
          JSON.stringify({ running: true, url, pid, home: layout.home, status, reasons, retention, waiting }),
        );
        return;
      }
      terminal.out(
        `Troupe ${status.version ?? ''} runs at ${url} (pid ${pid ?? '?'}, up ${status.uptime ?? '?'} s)`,
      );
      if (status.version !== undefined && status.version !== version)
        terminal.out(
          `  upgrade   ${version} is installed; restart to run it: ${hint(layout, 'stop')}, then start`,
        );
      for (const reason of reasons) terminal.out(`  degraded  ${reason}`);
      terminal.out(`  home      ${layout.home}`);
      terminal.out(`  engines   ${engines(status)}`);
      terminal.out(`  sessions  ${status.sessions?.total ?? 0}, ${status.sessions?.running ?? 0} running`);
      const others = await otherBuilds(client, status.version ?? version);
      if (others.length > 0)
        terminal.out(`  workers   of another version than the gateway: ${others.map(buildOf).join(', ')}`);
      if (waiting > 0)
        terminal.out(
          `  waiting   ${waiting} ${waiting === 1 ? 'waits' : 'wait'} for you; see ${hint(layout, 'waiting')}`,
        );
      if (retention !== undefined && retention.heldMs >= worthShowingMs)
        terminal.out(`  retention ${duration(retention.heldMs)} held back; see ${hint(layout, 'retention')}`);
    });
}

function engines(status: Status): string {
  const { default: standard, ...named } = status.engines ?? {};
  return engineLine(
    Object.entries(named).map(([name, facts]) => ({
      name,
      available: (facts as { available?: boolean } | null)?.available !== false,
    })),
    typeof standard === 'string' ? standard : null,
  );
}
