import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxLevel } from '../../../actors/sandbox/levels.js';
import { outputOf, ProgramError } from '../../../actors/start-program.js';
import type { CommandFolders } from '../../../actors/sandbox/sandbox.js';
import type { App } from '../app.js';

/**
 * The only way to git here. A repository that an agent can write says itself what git runs: hooks, filters,
 * drivers for diffs and merges, watchers of files, helpers for credentials. All of them are switched off, the
 * settings of this machine are not read, and the command is confined as the agent is.
 */
export interface GitCommand {
  /** The repository, or a folder in it. */
  readonly folder: string;
  readonly args: readonly string[];
  readonly level: SandboxLevel;
  /** The repository itself, whatever lies in the folder. Undefined: git finds it. */
  readonly gitDir?: string | undefined;
  /** Where its files lie, whatever its settings say; undefined: nothing is read of them. */
  readonly top?: string | undefined;
  /** What git needs beside the folder. */
  readonly folders?: CommandFolders;
  /** The index, and new objects, lie there instead of in the repository, whose objects are `borrowed`. */
  readonly aside?: {
    readonly index: string;
    readonly objects?: { readonly folder: string; readonly borrowed: string };
  };
  readonly stdin?: string;
}

/** Where it runs, and in which cage. */
export type GitHost = Pick<App, 'sandbox' | 'settings'>;

/** `(await git(app, {folder, args: ['rev-parse', 'HEAD'], level})).trim()`; rejects with git's last words. */
export async function git(app: Pick<App, 'sandbox'>, command: GitCommand): Promise<string> {
  return run(app, command, await programsNamedIn(app, command));
}

async function run(
  app: Pick<App, 'sandbox'>,
  command: GitCommand,
  silenced: readonly string[],
): Promise<string> {
  const plain = {
    program: 'git',
    args: [...quiet.flatMap((setting) => ['-c', setting]), ...command.args],
    cwd: command.folder,
    env: { ...environment(silenced), ...placesOf(command) },
    ...(command.folders && { folders: command.folders }),
  };
  const confined = (await app.sandbox?.port.confine(plain, command.level)) ?? plain;
  try {
    return await outputOf(confined.program, confined.args, {
      cwd: confined.cwd,
      env: confined.env,
      timeoutMs: 60_000,
      bytesMax: 16 * 2 ** 20,
      ...(command.stdin !== undefined && { stdin: command.stdin }),
    });
  } catch (error) {
    const said = error instanceof ProgramError ? error.stderr.trim().split('\n') : [];
    // What went wrong stands in the last line, or in one before it, and the last says only what to type
    const from = said.findLastIndex((line) => /^(?:fatal|error): /.test(line));
    throw new Error(said.slice(from).join(' ').slice(0, 300), { cause: error });
  }
}

const placesOf = ({ gitDir, top, aside }: GitCommand): Record<string, string> => ({
  ...(gitDir !== undefined && { GIT_DIR: gitDir }),
  ...(top !== undefined && { GIT_WORK_TREE: top }),
  ...(aside && {
    GIT_INDEX_FILE: aside.index,
    ...(aside.objects && {
      GIT_OBJECT_DIRECTORY: aside.objects.folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: aside.objects.borrowed,
    }),
  }),
});

/** Filters and drivers have names of the repository's choice: each that it names is emptied. */
async function programsNamedIn(app: Pick<App, 'sandbox'>, command: GitCommand): Promise<readonly string[]> {
  const names = await run(
    app,
    { ...command, args: ['config', '--null', '--name-only', '--get-regexp', namedPrograms] },
    [],
  ).catch((error: Error) => {
    if (error.cause instanceof ProgramError && error.cause.exitCode === noneFound) return '';
    throw error; // programs that are not known cannot be switched off
  });
  const found = [...new Set(names.split('\0'))].filter((name) => name !== '');
  if (found.length > programsMax) throw new Error('The settings of this repository name too many programs.');
  return found;
}

/** Exit code of `git config`. */
const noneFound = 1;
/** More are no work of people, and would not fit into an environment. */
const programsMax = 1_000;

const namedPrograms = `^(${[
  'filter\\..*\\.(smudge|clean|process)',
  'diff\\..*\\.(textconv|command)',
  'merge\\..*\\.driver',
  'remote\\..*\\.(uploadpack|receivepack|vcs)',
  'trailer\\..*\\.(command|cmd)',
  'hook\\..*\\.(command|event)',
].join('|')})$`;

const quiet = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  // By these an agent could hide what it changed
  'core.excludesFile=/dev/null',
  'core.ignoreStat=false',
  'core.trustctime=true',
  'core.checkStat=default',
  'core.untrackedCache=false',
  'core.sshCommand=false',
  'core.gitProxy=',
  'core.askPass=',
  'core.pager=cat',
  'core.editor=false',
  'core.alternateRefsCommand=true',
  'credential.helper=',
  'diff.external=',
  'gpg.program=false',
  'commit.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'fetch.fsckObjects=true',
  'protocol.allow=never',
  'protocol.ext.allow=never', // a repository's own word for one protocol outranks the one for all
  'protocol.file.allow=always',
];

function environment(silenced: readonly string[]): Record<string, string> {
  const settings = silenced.flatMap((name) => [
    [name, ''],
    // a filter that is required and empty would be an error
    ...(name.startsWith('filter.') ? [[name.replace(/\.[^.]*$/, '.required'), 'false']] : []),
    // hooks by settings, of git 2.54
    ...(name.startsWith('hook.') ? [[name.replace(/\.[^.]*$/, '.enabled'), 'false']] : []),
  ]);
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'file', // outranks every setting of the repository
    GIT_NO_LAZY_FETCH: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([name = '', value = ''], n) => [
        [`GIT_CONFIG_KEY_${n}`, name],
        [`GIT_CONFIG_VALUE_${n}`, value],
      ]),
    ),
  };
}

/** Paths as git reads them with `-z`, whatever they hold: `nulEnded(['a b', 'c'])`. */
export const nulEnded = (paths: readonly string[]): string => paths.map((path) => `${path}\0`).join('');

/**
 * Repositories below the folder that this one has as submodules, and that are there. What git would tell of their
 * files it learns from their filters: such a copy stays, unlooked at.
 */
export async function submodulesIn(
  folder: string,
  ask: (...args: string[]) => Promise<string>,
): Promise<readonly string[]> {
  const entries = await ask('ls-files', '--stage', '-z');
  const found: string[] = [];
  for (const entry of entries.split('\0')) {
    if (!entry.startsWith('160000 ')) continue;
    const path = entry.slice(entry.indexOf('\t') + 1);
    if (await lstat(join(folder, path, '.git')).catch(() => undefined)) found.push(path);
  }
  return found;
}
