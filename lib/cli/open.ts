import type { Command } from 'commander';
import { notRunning, running } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { browserLink, openInBrowser } from './browser-link.js';

/**
 * `troupe open`: the gateway's page in this machine's own browser, let in by a grant that is good once and
 * for one minute.
 */
export function openCommand(program: Command, terminal: Terminal): void {
  withHome(program.command('open').description("open the gateway in this machine's browser and pair it"))
    .option('--print', 'only print the address; it pairs one browser within a minute')
    .action(async (options: HomeOptions & { readonly print?: boolean }) => {
      const layout = homeOf(options, terminal);
      const announcement = await running(layout);
      if (announcement === undefined) throw notRunning(layout);
      const { link, ttlSeconds } = await browserLink(layout, announcement);
      if (options.print !== true && (await openInBrowser(link))) {
        terminal.say(`Opened ${announcement.url} in your browser.`);
        return;
      }
      terminal.out(link);
      terminal.say(`Open it in a browser of this machine within ${ttlSeconds} s; it works once.`);
    });
}
