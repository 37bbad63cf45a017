import type { Mount } from './mounts.js';

/** A command line, and what stands before it. */
export interface Wrapping {
  readonly mounts: readonly Mount[];
  readonly cwd: string;
  /** No network but the loopback of its own. */
  readonly isOffline: boolean;
  /** Path of GNU's `env`, where it is here: SIGINT reaches the agent and not the sandbox around it. */
  readonly env: string | undefined;
  /** Path of `prlimit` and processes at once, where the kernel counts those of a sandbox for themselves. */
  readonly limit: { readonly prlimit: string; readonly processesMax: number } | undefined;
}

/**
 * The arguments of `bwrap` before the program. An agent's group gets SIGINT as a whole; the sandbox would die
 * of it and take the agent with it before it could write down its half of an answer. So the sandbox ignores
 * it, and the agent is given back the usual way.
 */
export function bubblewrapCommand(
  bwrap: string,
  command: readonly string[],
  { mounts, cwd, isOffline, env, limit }: Wrapping,
): readonly [program: string, ...args: string[]] {
  const before = env === undefined ? [bwrap] : [env, '--ignore-signal=INT', bwrap];
  const within = [
    ...(limit === undefined ? [] : [limit.prlimit, `--nproc=${limit.processesMax}`, '--']),
    ...(env === undefined ? [] : [env, '--default-signal=INT']),
  ];
  const [root, ...others] = mounts;
  const [program = bwrap, ...args] = [
    ...before,
    '--die-with-parent',
    '--unshare-pid',
    '--unshare-ipc',
    ...(isOffline ? ['--unshare-net'] : []),
    // the superuser would keep its powers, and could undo every mount
    ...['--cap-drop', 'ALL'],
    ...(root === undefined ? [] : argumentsOf(root)),
    ...[
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      '--ro-bind',
      '/proc/sys',
      '/proc/sys',
      '--ro-bind',
      '/sys',
      '/sys',
    ],
    ...others.flatMap(argumentsOf),
    // only now: the places to mount on are made in them
    ...mounts.flatMap(({ access, path, isFile }) =>
      access === 'hidden' && isFile !== true ? ['--remount-ro', path] : [],
    ),
    ...['--chdir', cwd, '--'],
    ...within,
    ...command,
  ];
  return [program, ...args];
}

function argumentsOf({ access, path, isFile }: Mount): readonly string[] {
  switch (access) {
    case 'write':
      return ['--bind-try', path, path];
    case 'read':
      return ['--ro-bind-try', path, path];
    case 'private':
      return ['--perms', '0700', '--tmpfs', path];
    case 'hidden':
      return isFile === true ? ['--ro-bind', '/dev/null', path] : ['--perms', '0700', '--tmpfs', path];
  }
}
