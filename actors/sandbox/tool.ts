import { release } from 'node:os';
import { outputOf, ProgramError } from '../start-program.js';
import { scopeWords, type Scope } from './bubblewrap.js';
import { findSystemProgram } from './system-program.js';

/** The program of this machine that confines, or why there is none and what to install. */
export type SandboxTool =
  | {
      readonly name: 'bubblewrap';
      readonly path: string;
      /** Path of an `env` that passes signals on. */
      readonly env: string | undefined;
      readonly prlimit: string | undefined;
      /** A limit of processes counts those of the sandbox alone. */
      readonly countsProcesses: boolean;
      /** Path of a `stat` by which a folder is known again. */
      readonly stat: string | undefined;
      /** A `systemd-run` that makes scopes, for the memory and the processes of a whole turn. */
      readonly scope: Scope | undefined;
    }
  | { readonly name: 'sandbox-exec'; readonly path: string }
  | { readonly name: null; readonly reason: string; readonly remedy: string };

const run = (program: string, args: readonly string[]): Promise<string> =>
  outputOf(program, args, { timeoutMs: 5_000 });

/** Starts the tool once, for nothing: where user namespaces are switched off it is there and does not work. */
export async function findSandboxTool(platform: NodeJS.Platform = process.platform): Promise<SandboxTool> {
  if (platform === 'darwin') return seatbelt();
  if (platform === 'linux') return bubblewrap();
  return {
    name: null,
    reason: `There is no sandbox for ${platform}.`,
    remedy: 'Run the gateway on Linux or macOS, or as a user of its own.',
  };
}

async function bubblewrap(): Promise<SandboxTool> {
  const path = await findSystemProgram('bwrap');
  if (path === undefined)
    return {
      name: null,
      reason: 'bubblewrap (bwrap) was not found in a folder that belongs to the superuser alone.',
      remedy: 'Install bubblewrap: apt install bubblewrap, dnf install bubblewrap, or pacman -S bubblewrap.',
    };
  try {
    await run(path, [...probe, 'true']);
  } catch (error) {
    const said = error instanceof ProgramError ? error.stderr : '';
    return {
      name: null,
      reason: `bubblewrap does not work here: ${said.slice(0, 300) || 'it did not start'}`,
      remedy:
        'Allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1, on Ubuntu an ' +
        'AppArmor profile for bwrap; in a container, run it with --security-opt seccomp=unconfined.',
    };
  }
  const [env, prlimit, stat, scope] = await Promise.all([
    working('env', (found) => ['--ignore-signal=INT', found, '--default-signal=INT', 'true']),
    working('prlimit', () => ['--nproc=4096', `--data=${2 ** 30}`, '--', 'true']),
    working('stat', () => ['-c', '%d:%i', '.']),
    systemdScope(),
  ]);
  return { name: 'bubblewrap', path, env, prlimit, countsProcesses: countsForThemselves(), stat, scope };
}

const probe = [
  ...['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-net', '--cap-drop', 'ALL'],
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'],
];

/**
 * Before Linux 5.14 the limit counted every process of the user, so that a busy desktop would leave none to an
 * agent. For the superuser there is no such limit, and no namespace of users.
 */
function countsForThemselves(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return process.getuid?.() !== 0 && (major > 5 || (major === 5 && minor >= 14));
}

async function seatbelt(): Promise<SandboxTool> {
  const path = '/usr/bin/sandbox-exec';
  if (await works(path, ['-p', '(version 1)(allow default)', '/usr/bin/true']))
    return { name: 'sandbox-exec', path };
  return {
    name: null,
    reason: 'sandbox-exec does not work here.',
    remedy: 'Start the gateway outside of any other sandbox.',
  };
}

async function systemdScope(): Promise<Scope | undefined> {
  const path = await findSystemProgram('systemd-run');
  if (path === undefined) return undefined;
  const scope: Scope = { path, manager: process.getuid?.() === 0 ? '--system' : '--user' };
  const [, ...words] = scopeWords(scope, { processesMax: 64, memoryBytesMax: 2 ** 30 });
  return (await works(path, [...words, 'true'])) ? scope : undefined;
}

async function working(name: string, args: (path: string) => readonly string[]): Promise<string | undefined> {
  const path = await findSystemProgram(name);
  return path !== undefined && (await works(path, args(path))) ? path : undefined;
}

const works = (program: string, args: readonly string[]): Promise<boolean> =>
  run(program, args).then(
    () => true,
    () => false,
  );
