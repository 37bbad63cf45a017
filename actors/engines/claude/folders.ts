import { mkdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CommandFolders } from '../../sandbox/sandbox.js';
import type { AgentProgram } from '../agent/program.js';

/** Where Claude Code keeps the conversations of a working folder: a folder named after it. */
export async function conversationFolder(configuration: string, cwd: string): Promise<string> {
  const place = await realpath(cwd).catch(() => cwd);
  return join(configuration, 'projects', place.replace(/[^A-Za-z0-9]/g, '-'));
}

export const configurationFolder = (options: Pick<AgentProgram, 'env'>): string =>
  options.env?.['CLAUDE_CONFIG_DIR'] ?? process.env['CLAUDE_CONFIG_DIR'] ?? join(homedir(), '.claude');

/**
 * What Claude Code needs when it is confined: its login and its own conversations. It renews a login in
 * place, so that stays writable; what it would run in a later, unconfined start (settings with hooks and servers,
 * commands, plugins) does not, whether it is there or not: of the rest it gets an empty folder, and of its state a
 * copy. Conversations of other folders are not there.
 */
export async function claudeFolders(options: AgentProgram, cwd: string): Promise<CommandFolders> {
  const configuration = configurationFolder(options);
  const own = await conversationFolder(configuration, cwd);
  await mkdir(own, { recursive: true, mode: 0o700 });
  return {
    writes: [join(configuration, '.credentials.json'), own],
    reads: runLater.map((name) => join(configuration, name)),
    scratch: [configuration],
    copies: [join(homedir(), '.claude.json'), join(configuration, '.claude.json')],
    privates: [join(configuration, 'projects')],
  };
}

const runLater = [
  'settings.json',
  'settings.local.json',
  'CLAUDE.md',
  'agents',
  'commands',
  'hooks',
  'plugins',
  'skills',
];
