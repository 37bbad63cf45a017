import { sep } from 'node:path';
import { isWithin, type SandboxLevel } from './levels.js';

/**
 * What a confined process sees of the file system, as data: a list in which a deeper folder outranks the one
 * around it. Nothing here touches a disk; `places.ts` says what is there.
 */
export interface Mount {
  /**
   * `write` and `read`: as it is. `private`: empty, writable, gone afterwards. `hidden`: empty and read-only;
   * a file has no content.
   */
  readonly access: 'write' | 'read' | 'private' | 'hidden';
  /** Absolute, with every symbolic link resolved. */
  readonly path: string;
  /** It is a file. */
  readonly isFile?: boolean;
}

/** What is on this machine, as far as a sandbox must know it. */
export interface Places {
  /** Folders and files that no agent may see at any level: the homes of gateways, keys of its certificate. */
  readonly hidden: readonly Omit<Mount, 'access'>[];
  /** Ways to have another process do something unconfined: the user's message bus, sockets of containers. */
  readonly control: readonly Omit<Mount, 'access'>[];
  /** Files that the user's shell or desktop will run later, and the gateway's own program. */
  readonly runLater: readonly string[];
  /** Programs that the gateway itself starts or loads, and the folders of its PATH. */
  readonly kept: readonly Omit<Mount, 'access'>[];
  /** The user's own folder; undefined when there is none. */
  readonly userHome: string | undefined;
  /** What an agent at `home` may write below it, and what not. */
  readonly ofUserAtHome: readonly Mount[];
  /** Keys, credentials and browsers below it. */
  readonly secrets: readonly Omit<Mount, 'access'>[];
  /** Programs below it or below temporary folders. */
  readonly programs: readonly string[];
  /** Emptied at `workspace`: temporary folders and the run folder. */
  readonly shared: readonly string[];
  /** Kept of those: how names are resolved, programs of some distributions. */
  readonly sharedReads: readonly string[];
}

/** What one command needs beside that. */
export interface Needs {
  /** Its working folder. */
  readonly cwd: string;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Replaced by an empty folder of its own. */
  readonly privates: readonly string[];
}

/** `mountsOf('home', places, {cwd: '/home/me/project', …})[0]` → `{access: 'write', path: '/'}` */
export function mountsOf(
  level: Exclude<SandboxLevel, 'off'>,
  places: Places,
  needs: Needs,
): readonly Mount[] {
  const isWorkspace = isWithin(level, 'workspace');
  const read = (path: string): Mount => ({ access: 'read', path });
  const write = (path: string): Mount => ({ access: 'write', path });
  const hide = (place: Omit<Mount, 'access'>): Mount => ({ access: 'hidden', ...place });
  const outer = isWorkspace
    ? [
        read('/'),
        ...[...places.shared, ...optional(places.userHome)].map((path): Mount => ({
          access: 'private',
          path,
        })),
        ...places.sharedReads.map(read),
        ...places.programs.map(read),
      ]
    : [
        write('/'),
        ...places.ofUserAtHome.filter(({ path }) => !needs.privates.some((own) => isInside(path, own))),
      ];
  return inOrder([
    ...outer,
    ...needs.privates.map((path): Mount => ({ access: 'private', path })),
    ...places.runLater.map(read),
    ...keptFrom(places, needs, isWorkspace),
    ...needs.reads.map(read),
    ...needs.writes.map(write),
    write(needs.cwd),
    ...(isWorkspace ? places.secrets.map(hide) : []),
    ...places.control.map(hide),
    ...places.hidden.map(hide),
  ]);
}

/**
 * Nothing that the gateway starts later is an agent's to write. A folder of the PATH within the working folder is
 * (`node_modules/.bin` of a project that the gateway was started in); a program there is kept as a file.
 */
function keptFrom({ kept, hidden, control }: Places, { cwd }: Needs, isWorkspace: boolean): readonly Mount[] {
  // shown, it would be seen again
  const isHidden = (path: string): boolean =>
    [...hidden, ...control].some((outer) => isInside(path, outer.path));
  return kept
    .filter(({ path, isFile }) => (isInside(path, cwd) ? isFile === true : !isWorkspace && !isHidden(path)))
    .map((place) => ({ access: 'read', ...place }));
}

export const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

const optional = (path: string | undefined): readonly string[] => (path === undefined ? [] : [path]);

/** Outer folders first; of two that name one folder, the later one counts. */
function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  const last = new Map(mounts.map((mount) => [mount.path, mount]));
  return [...last.values()].sort((one, other) => depth(one.path) - depth(other.path));
}

const depth = (path: string): number => (path === '/' ? 0 : path.split('/').length);
