import type { Command } from 'commander';
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isThere } from '../home/atomic-file.js';
import { readRecord } from '../home/backups/record.js';
import { defaultConfig } from '../home/config.js';
import { layoutOf, type Layout } from '../home/layout.js';
import { readConfig } from '../home/read-config.js';
import { embeddedStore } from '../home/store-setting.js';
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
    const elsewhere: string[] = [];
    for (const home of homes) {
      const layout = layoutOf({ home, env: {} });
      if (await isHome(home)) {
        found.push(home);
        elsewhere.push(...(await keptElsewhere(layout)));
      }
      if (manager !== undefined && (await isInstalled(manager, gatewayService(layout, terminal.env))))
        services.push(home);
    }
    terminal.out(
      [
        ...(services.length === 0 ? [] : ['First stop the services:']),
        ...services.map((home) => `  troupe service uninstall --home '${home}'`),
        'Remove the program:',
        ...(await programRemoval()).map((line) => `  ${line}`),
        found.length === 0
          ? 'No homes are left.'
          : 'These homes stay, with all work and all secrets in them:',
        ...found.map((home) => `  ${home}`),
        ...(found.length === 0
          ? []
          : ['Back one up with "troupe backup <folder>"; delete it like any folder.']),
        ...(elsewhere.length === 0
          ? []
          : ['These stay as well, and hold what the homes hold:', ...elsewhere.map((line) => `  ${line}`)]),
        ...(found.length === 0
          ? []
          : ['Backups made by hand, by "troupe backup <folder>", are where you put them.']),
        'Homes elsewhere, which only --home or SVC_HOME names, are not in this list.',
      ].join('\n'),
    );
  });
}

/** `~/.svc` and `~/.svc-<instance>`. */
async function usualHomes(): Promise<readonly string[]> {
  const names = await readdir(homedir()).catch(() => []);
  return names.filter((name) => /^\.svc(?:-[a-z0-9-]+)?$/.test(name)).map((name) => join(homedir(), name));
}

/** Of a gateway, or of a worker that has joined one. */
const isHome = (folder: string): Promise<boolean> =>
  readdir(folder).then(
    (names) => ['gateway.json', 'store', 'token'].some((name) => names.includes(name)),
    () => false,
  );

/** Backups of the schedule, wherever they were written to, and a store that is no folder. */
async function keptElsewhere(layout: Layout): Promise<readonly string[]> {
  const record = await readRecord(layout);
  const { backup, store } = await readConfig(layout.config).catch(() => defaultConfig());
  const places = new Set([record.to, backup.to].filter((place) => place !== null));
  return [
    ...[...places].map((place) => `backups of ${layout.home}: ${place}`),
    ...(store === embeddedStore
      ? []
      : [`the store of ${layout.home}: in PostgreSQL, where "store" in its config.yaml says`]),
  ];
}

/**
 * Right for a global install, a dependency and a checkout. Optional packages that were installed beside a global one
 * are a line of their own: other programs may need them. In a project they are in its own list.
 */
export async function programRemoval(
  root = fileURLToPath(new URL('../../../', import.meta.url)),
): Promise<readonly string[]> {
  if (!root.includes('/node_modules/')) return [`rm -r '${root.replace(/\/$/, '')}'`];
  if (!/\/lib\/node_modules\/[^/]+\/$/.test(root)) return ['npm uninstall troupe'];
  const { peerDependenciesMeta = {} } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  };
  const beside: string[] = [];
  for (const [name, { optional }] of Object.entries(peerDependenciesMeta))
    if (optional === true && (await isThere(join(root, '..', name)))) beside.push(name);
  return [
    'npm uninstall --global troupe',
    ...(beside.length === 0
      ? []
      : [`npm uninstall --global ${beside.join(' ')}   (optional packages, if nothing else needs them)`]),
  ];
}
