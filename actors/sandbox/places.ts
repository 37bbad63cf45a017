import { lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { findExecutable } from '../engines/executable.js';
import {
  agentSettings,
  cachesOfBuilds,
  controlInHome,
  controlPlaces,
  controlPlacesOfMac,
  dataOfPrograms,
  readOnlyAtHome,
  runBySystem,
  runFromData,
  runLater,
  secrets,
  sharedReads,
  toolchains,
  writableAtHome,
} from './known-places.js';
import { isInside, type Mount, type Places } from './mounts.js';

/**
 * Looks which of the places that matter are on this machine. Names that are not there are left out, because
 * nothing can be mounted over them.
 */
export interface PlacesOptions {
  /** The gateway's home, and whatever else no agent may see. */
  readonly hidden: readonly string[];
  /** Folder of the gateway's own program. */
  readonly program: string;
  /**
   * Programs that the gateway starts or loads: names on the PATH, or absolute paths. Now or later they run
   * unconfined, as a look for their version or for an employee who is kept less far.
   */
  readonly programs?: readonly string[];
  readonly platform?: NodeJS.Platform;
  readonly path?: string;
}

export async function findPlaces(options: PlacesOptions): Promise<Places> {
  const { programs = [], platform = process.platform, path = process.env['PATH'] ?? '' } = options;
  const userHome = await real(homedir());
  // a user whose folder is the root of everything has nothing that could be emptied
  const home = userHome === '/' ? undefined : userHome;
  const inHome = (names: readonly string[]): readonly string[] =>
    home === undefined ? [] : names.map((name) => join(home, name));
  const isMac = platform === 'darwin';
  const shared = await present(isMac ? ['/private/tmp', '/private/var/tmp'] : ['/tmp', '/var/tmp', '/run']);
  const emptied = [...shared, ...(home === undefined ? [] : [home])];
  const onPath = await present([...path.split(delimiter), dirname(process.execPath)].filter(isAbsolute));
  const started = (await Promise.all(programs.map((name) => filesOfProgram(name, path)))).flat();
  const isOuter = (folder: string): boolean => [...emptied, '/'].some((inner) => isInside(inner, folder));
  return {
    userHome: home,
    hidden: await marked(options.hidden),
    control: await marked([
      ...(isMac ? controlPlacesOfMac : controlPlaces),
      ...inHome(controlInHome),
      ...controlOfEnvironment(),
    ]),
    runLater: await present([...inHome(runLater), ...(isMac ? [] : runBySystem), options.program]),
    // a folder around everything is not emptied of its use because a program lies there
    kept: (await marked([...onPath, ...started])).filter(({ path: place }) => !isOuter(place)),
    ofUserAtHome: home === undefined ? [] : await ofUser(home),
    secrets: await marked(inHome(secrets)),
    programs: [
      ...(await present(inHome(toolchains))),
      ...onPath.filter((folder) => emptied.some((outer) => isInside(folder, outer))),
    ],
    shared,
    sharedReads: isMac ? [] : await present(sharedReads),
  };
}

/**
 * What is not there can only be kept from being made by a folder around it that is read-only, for nothing can be
 * mounted over it. So the user's own folder is, and the folders in it are mounted again, one by one.
 */
async function ofUser(home: string): Promise<readonly Mount[]> {
  const closed = [...readOnlyAtHome, ...agentSettings];
  // half of all programs make it when they first start, and none could
  await mkdir(join(home, '.cache'), { mode: 0o700 }).catch(() => undefined);
  const within = (names: readonly string[]): readonly string[] => names.map((name) => join(home, name));
  const writable = await Promise.all([
    foldersIn(home, closed),
    foldersIn(join(home, dataOfPrograms), runFromData),
    present(within(writableAtHome)),
  ]);
  return [
    ...[home, ...(await present(within(closed)))].map((path): Mount => ({ access: 'read', path })),
    ...writable.flat().map((path): Mount => ({ access: 'write', path })),
  ];
}

/**
 * No links: where one leads to is judged where it lies. Each folder costs a mount at every start, and all of them
 * together more than each alone; so of many those stay writable that builds need, and those that changed last.
 */
async function foldersIn(folder: string, but: readonly string[]): Promise<readonly string[]> {
  const changedAt = (await lstat(folder).catch(() => undefined))?.mtimeMs;
  const known = listed.get(folder);
  if (known !== undefined && known.changedAt === changedAt) return known.folders;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory() && !but.includes(entry.name));
  const dated = await Promise.all(
    names.map(async ({ name }) => ({
      path: join(folder, name),
      at: cachesOfBuilds.includes(name) ? Infinity : await changeOf(join(folder, name)),
    })),
  );
  const folders = dated
    .toSorted((one, other) => other.at - one.at || (one.path < other.path ? -1 : 1))
    .slice(0, foldersMax)
    .map(({ path }) => path);
  if (changedAt !== undefined) listed.set(folder, { changedAt, folders });
  return folders;
}

const foldersMax = 32;
/** By folder, until something is made or removed in it. */
const listed = new Map<string, { readonly changedAt: number; readonly folders: readonly string[] }>();
const changeOf = (path: string): Promise<number> =>
  lstat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/** The file of a program, where it really lies, and the folders and packages around both. */
async function filesOfProgram(name: string, path: string): Promise<readonly string[]> {
  const file = isAbsolute(name) ? name : await findExecutable(name, path);
  return file === undefined ? [] : [file, ...(await foldersOfProgram(file))];
}

/** Sockets of this user that the environment or a number names. */
function controlOfEnvironment(): readonly string[] {
  const user = process.getuid?.() ?? 0;
  const { TMUX_TMPDIR = '/tmp', XAUTHORITY, DOCKER_HOST = '', CONTAINER_HOST = '' } = process.env;
  const sockets = [DOCKER_HOST, CONTAINER_HOST].flatMap((host) => /^unix:\/\/(\/.*)$/.exec(host)?.[1] ?? []);
  return [
    `/run/user/${user}`,
    `${TMUX_TMPDIR}/tmux-${user}`,
    `/tmp/emacs${user}`,
    `${tmpdir()}/.X11-unix`,
    ...(XAUTHORITY === undefined ? [] : [XAUTHORITY]),
    ...sockets,
  ];
}

/** The folders that a program needs to start: where it really lies, and the packages around it. */
export async function foldersOfProgram(file: string): Promise<readonly string[]> {
  const target = (await real(file)) ?? file;
  return [...new Set([file, target].map(packageAround))];
}

/** `/x/lib/node_modules/claude/cli.js` → `/x/lib/node_modules`; any other file stands for its folder. */
function packageAround(file: string): string {
  const parts = file.split(sep);
  const at = parts.indexOf('node_modules');
  return at > 0 ? parts.slice(0, at + 1).join(sep) : dirname(file);
}

/** Where a path really leads; undefined when it leads nowhere. */
export const real = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined);

async function present(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(real));
  return [...new Set(found.filter((path) => path !== undefined))];
}

async function marked(paths: readonly string[]): Promise<readonly Omit<Mount, 'access'>[]> {
  return Promise.all(
    (await present(paths)).map(async (path) => ({ path, isFile: !(await lstat(path)).isDirectory() })),
  );
}
