import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TurnChanges, WatchChanges } from '../../../actors/session/turn-changes.js';
import type { App } from '../app.js';
import { git } from './git.js';

/**
 * What a turn changes in a folder that git keeps: compared with the commit that was checked out when it began, so
 * that what the agent commits counts as well. Only reads, and only by the confined way to git.
 */
export const watchChanges =
  (app: Pick<App, 'sandbox'>): WatchChanges =>
  async ({ cwd, level }) => {
    if (!(await isInRepository(cwd))) return undefined;
    const ask = (...args: string[]): Promise<string> =>
      git(app, { folder: cwd, level, args: ['--no-optional-locks', ...args] });
    const base = await ask('rev-parse', '--verify', 'HEAD^{commit}').catch(() => '');
    return base === '' ? undefined : () => changesSince(base.trim(), ask).catch(() => undefined);
  };

async function changesSince(
  base: string,
  ask: (...args: string[]) => Promise<string>,
): Promise<TurnChanges | undefined> {
  const diff = (...args: string[]): Promise<string> =>
    ask('diff', ...plainDiff, '--relative', ...args, base, '--', '.');
  const [known, fresh] = [
    await diff('--name-only', '-z'),
    await ask('ls-files', '--others', '--exclude-standard', '-z', '--', '.'),
  ];
  const files = `${known}\0${fresh}`.split('\0').filter((name) => name !== '');
  if (files.length === 0) return undefined;
  const summary = await diff(`--stat=${statColumns}`);
  const patch = await diff('--binary').catch(() => ''); // longer than may be read
  return { files: files.slice(0, filesMax), stat: summary.trimEnd(), patch };
}

/** Within a submodule git would be started anew, and run the filters that the submodule names. */
const plainDiff = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--submodule=short',
  '--ignore-submodules=dirty',
];
const statColumns = 120;
const filesMax = 1_000;

/** Without starting a program: most working folders are none. */
async function isInRepository(folder: string): Promise<boolean> {
  for (let at = folder, steps = 0; steps < 64; at = dirname(at), steps += 1) {
    if (await stat(join(at, '.git')).catch(() => undefined)) return true;
    if (dirname(at) === at) return false;
  }
  return false;
}
