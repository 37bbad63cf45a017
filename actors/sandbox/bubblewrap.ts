import type { Mount } from './mounts.js';

/** A command line, and what stands before it. */
export interface Wrapping {
  readonly mounts: readonly Mount[];
  readonly cwd: string;
  /** No network but the loopback of its own. */
  readonly isOffline: boolean;
  /** Path of GNU's `env`, where it is here: SIGINT reaches the agent and not the sandbox around it. */
  readonly env: string | undefined;
  readonly bounds: Bounds;
  /** Copied to their own place once it is empty there: `[where it is shown, where it belongs]`. */
  readonly copies?: readonly (readonly [from: string, to: string])[];
  /** Path of `stat`, and folders as they were when they were judged: `device:inode` of each. */
  readonly same:
    | { readonly stat: string; readonly folders: readonly (readonly [path: string, identity: string])[] }
    | undefined;
}

/** How much one command may use, by the programs that can bound it here. */
export interface Bounds {
  readonly prlimit: string | undefined;
  /** Of `systemd-run`, which bounds the whole turn instead of each process. */
  readonly scope: Scope | undefined;
  readonly processesMax: number;
  /** A limit of processes counts those of the sandbox for themselves. */
  readonly countsProcesses: boolean;
  readonly memoryBytesMax: number | undefined;
}

export interface Scope {
  readonly path: string;
  /** The superuser's are made by the system's own manager. */
  readonly manager: '--user' | '--system';
}

/** `systemd-run …`: a scope for what follows, under the same process id. */
export const scopeWords = (
  { path, manager }: Scope,
  { processesMax, memoryBytesMax }: Pick<Bounds, 'processesMax' | 'memoryBytesMax'>,
): readonly string[] => [
  ...[path, manager, '--scope', '--quiet', '--collect', '-p', `TasksMax=${processesMax}`],
  ...(memoryBytesMax === undefined ? [] : ['-p', `MemoryMax=${memoryBytesMax}`, '-p', 'MemorySwapMax=0']),
  '--',
];

/** Runs first within: are these still the folders that were judged? Then the copies, then the program. */
const firstStep = `
stat=$1; shift
while [ "$1" != -- ]; do
  if [ "$("$stat" -c %d:%i -- "$1")" != "$2" ]; then
    printf 'A folder of this sandbox (%s) was replaced while it was made.\\n' "$1" >&2
    exit 126
  fi
  shift 2
done
shift
while [ "$1" != -- ]; do cp -- "$1" "$2" || exit 126; shift 2; done
shift
exec "$@"`;

/**
 * The arguments of `bwrap` before the program. An agent's group gets SIGINT as a whole; the sandbox would die
 * of it and take the agent with it before it could write down its half of an answer. So the sandbox ignores
 * it, and the agent is given back the usual way.
 */
export function bubblewrapCommand(
  bwrap: string,
  command: readonly string[],
  { mounts, cwd, isOffline, env, bounds, copies = [], same }: Wrapping,
): readonly [program: string, ...args: string[]] {
  const before = [
    ...(bounds.scope === undefined ? [] : scopeWords(bounds.scope, bounds)),
    ...(env === undefined ? [bwrap] : [env, '--ignore-signal=INT', bwrap]),
  ];
  const within = [
    ...prlimitWords(bounds),
    ...(env === undefined ? [] : [env, '--default-signal=INT']),
    ...(copies.length === 0 && same === undefined
      ? []
      : [
          ...['/bin/sh', '-c', firstStep, 'sh', same?.stat ?? ''],
          ...[...(same?.folders.flat() ?? []), '--'],
          ...[...copies.flat(), '--'],
        ]),
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
    ...copies.flatMap(([from, to]) => ['--ro-bind-try', to, from]),
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

function prlimitWords({
  prlimit,
  scope,
  processesMax,
  countsProcesses,
  memoryBytesMax,
}: Bounds): readonly string[] {
  if (prlimit === undefined) return [];
  const limits = [
    ...(countsProcesses ? [`--nproc=${processesMax}`] : []),
    ...(memoryBytesMax === undefined || scope !== undefined ? [] : [`--data=${memoryBytesMax}`]),
  ];
  return limits.length === 0 ? [] : [prlimit, ...limits, '--'];
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
