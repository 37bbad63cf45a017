import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultInstance, layoutOf, type Layout } from '../../home/layout.js';
import type { Terminal } from '../command-line.js';
import type { Service, ServiceManager } from './contract.js';
import { launchd } from './launchd.js';
import { systemd } from './systemd.js';

/** Undefined where this system has neither. */
export function managerOf(
  platform: NodeJS.Platform = process.platform,
  user = homedir(),
): ServiceManager | undefined {
  if (platform === 'linux') return systemd(join(user, '.config', 'systemd', 'user'));
  if (platform === 'darwin') return launchd(join(user, 'Library', 'LaunchAgents'));
  return undefined;
}

/** Is the definition of this service there? */
export const isInstalled = (manager: ServiceManager, service: Service): Promise<boolean> =>
  access(manager.file(service)).then(
    () => true,
    () => false,
  );

/** The gateway of a home as a service that starts with this very Node and this very installation. */
export function gatewayService(layout: Layout, env: Terminal['env']): Service {
  const main = fileURLToPath(new URL('../main.js', import.meta.url));
  return {
    name: nameOf(layout),
    layout,
    command: [process.execPath, ...nodeFlags, main, 'start', '--home', layout.home],
    path: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
  };
}

/** Those of the command itself: `#!/usr/bin/env -S node <flags>` is the one place that names and explains them. */
const command = readFileSync(new URL('../../../../lib/cli/troupe.mjs', import.meta.url), 'utf8');
export const nodeFlags: readonly string[] = (command.split('\n', 1)[0] ?? '').split(' ').slice(3);

function nameOf(layout: Layout): string {
  if (layout.home === layoutOf({ env: {} }).home) return 'troupe';
  if (
    layout.instance !== defaultInstance &&
    layout.home === layoutOf({ instance: layout.instance, env: {} }).home
  )
    return `troupe-${layout.instance}`;
  return `troupe-${createHash('sha256').update(layout.home).digest('hex').slice(0, 8)}`;
}
