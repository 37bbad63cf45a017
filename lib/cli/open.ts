import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { notRunning, running } from './client.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { prove } from './prove.js';

interface Granted {
  readonly grant: string;
  readonly ttlSeconds: number;
}

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
      const { grant, ttlSeconds } = await prove<Granted>(layout, announcement, '/api/auth/bootstrap-grants');
      // A fragment is sent to no server and written into no log
      const link = new URL(`/pair#svc-bootstrap=${grant}`, announcement.url).href;
      if (options.print !== true && (await opened(link))) {
        terminal.say(`Opened ${announcement.url} in your browser.`);
        return;
      }
      terminal.out(link);
      terminal.say(`Open it in a browser of this machine within ${ttlSeconds} s; it works once.`);
    });
}

/**
 * True when the desktop's own program took the address. It stands in the arguments of that program for a
 * moment, as with any link that is clicked.
 */
function opened(link: string): Promise<boolean> {
  const [program, ...words] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(program ?? 'xdg-open', [...words, link], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
    setTimeout(() => resolve(true), patienceMs).unref(); // some stay in the foreground
  }).then((done) => done === true);
}

const patienceMs = 3_000;
