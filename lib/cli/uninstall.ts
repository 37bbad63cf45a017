import type { Command } from 'commander';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { layoutOf } from '../home/layout.js';
import { homeOf, withHome, type HomeOptions, type Terminal } from './command-line.js';
import { gatewayService, isInstalled, managerOf } from './service/manager.js';

/**
 * `troupe uninstall`: how this installation is removed, and what stays. It removes nothing itself: homes are
 * a person's data, and a package manager removes what it has installed.
 */
export function uninstallCommand(program: Command, terminal: Terminal): void {
  withHome(
    program
      .command('uninstall')
      .description('show how to remove Troupe, and what would stay; removes nothing'),
  ).action(async (options: HomeOptions) => {
    const asked = homeOf(options, terminal);
    const homes = [...new Set([asked.home, ...(await usualHomes())])];
    const manager = managerOf();
    const services: string[] = [];
    const found: string[] = [];
    for (const home of homes) {
      const layout = layoutOf({ home, env: {} });
      if (await isHome(home)) found.push(home);
      if (manager !== undefined && (await isInstalled(manager, gatewayService(layout, terminal.env))))
        services.push(home);
    }
    terminal.out(
      [
        ...(services.length === 0 ? [] : ['First stop the services:']),
        ...services.map((home) => `  troupe service uninstall --home '${home}'`),
        'Remove the program:',
        `  ${programRemoval()}`,
        found.length === 0
          ? 'No homes are left.'
          : 'These homes stay, with all work and all secrets in them:',
        ...found.map((home) => `  ${home}`),
        ...(found.length === 0
          ? []
          : ['Back one up with "troupe backup <folder>"; delete it like any folder.']),
      ].join('\n'),
    );
  });
}

/** `~/.svc` and `~/.svc-<instance>`. */
async function usualHomes(): Promise<readonly string[]> {
  const names = await readdir(homedir()).catch(() => []);
  return names.filter((name) => /^\.svc(?:-[a-z0-9-]+)?$/.test(name)).map((name) => join(homedir(), name));
}

const isHome = (folder: string): Promise<boolean> =>
  readdir(folder).then(
    (names) => names.includes('gateway.json') || names.includes('store'),
    () => false,
  );

/** Right for a global install, a dependency and a checkout. */
function programRemoval(): string {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  if (!root.includes('/node_modules/')) return `rm -r '${root.replace(/\/$/, '')}'`;
  const isGlobal = /\/lib\/node_modules\/[^/]+\/$/.test(root);
  return isGlobal ? 'npm uninstall --global troupe' : 'npm uninstall troupe';
}
