import { lstat, realpath } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import type { Mount, Places } from './mounts.js';

/**
 * Looks which of the places that matter are on this machine. Names that are not there are left out, because
 * nothing can be mounted over them.
 */
export interface PlacesOptions {
  /** The gateway's home, and whatever else no agent may see. */
  readonly hidden: readonly string[];
  /** Folder of the gateway's own program. */
  readonly program: string;
  readonly platform?: NodeJS.Platform;
  readonly path?: string;
}

export async function findPlaces(options: PlacesOptions): Promise<Places> {
  const { platform = process.platform, path = process.env['PATH'] ?? '' } = options;
  const userHome = await real(homedir());
  // a user whose folder is the root of everything has nothing that could be emptied
  const home = userHome === '/' ? undefined : userHome;
  const inHome = (names: readonly string[]): readonly string[] =>
    home === undefined ? [] : names.map((name) => join(home, name));
  const isMac = platform === 'darwin';
  const shared = await present(isMac ? ['/private/tmp', '/private/var/tmp'] : ['/tmp', '/var/tmp', '/run']);
  const emptied = [...shared, ...(home === undefined ? [] : [home])];
  const onPath = await present([...path.split(delimiter), dirname(process.execPath)].filter(isAbsolute));
  return {
    userHome: home,
    hidden: await marked(options.hidden),
    control: await marked(isMac ? [] : [`/run/user/${process.getuid?.() ?? 0}`, ...controlSockets]),
    runLater: await present([...inHome(runLater), options.program]),
    secrets: await marked(inHome(secrets)),
    programs: [
      ...(await present(inHome(toolchains))),
      ...onPath.filter((folder) => emptied.some((outer) => isInside(folder, outer))),
    ],
    shared,
    sharedReads: isMac ? [] : await present(sharedReads),
  };
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

export const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

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

/** Who can speak to one of these can have a process started outside of any sandbox. */
const controlSockets = [
  '/run/docker.sock',
  '/run/podman',
  '/run/containerd',
  '/run/crio',
  '/run/dbus',
  '/run/systemd/private',
  '/run/snapd.socket',
  '/run/libvirt',
  '/tmp/.X11-unix',
  `${tmpdir()}/.X11-unix`,
];

const sharedReads = [
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/NetworkManager/resolv.conf',
  '/run/current-system',
  '/run/opengl-driver',
];

const runLater = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.config/fish',
  '.config/autostart',
  '.config/systemd',
  '.config/environment.d',
  '.ssh',
  'Library/LaunchAgents',
];

/** Programs of the user's own; below some of these there are credentials too, which `secrets` hides again. */
const toolchains = [
  '.asdf',
  '.bun',
  '.cargo',
  '.deno',
  '.fnm',
  '.local/bin',
  '.local/lib',
  '.local/share/claude',
  '.local/share/fnm',
  '.local/share/mise',
  '.local/share/pnpm',
  '.local/share/uv',
  '.nix-profile',
  '.npm-global',
  '.nvm',
  '.pyenv',
  '.rbenv',
  '.rustup',
  '.sdkman',
  '.volta',
  'go',
  'Library/pnpm',
];

const secrets = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.config/gcloud',
  '.config/gh',
  '.config/hub',
  '.config/op',
  '.config/doctl',
  '.config/sops',
  '.config/rclone',
  '.kube',
  '.docker',
  '.terraform.d',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.pgpass',
  '.my.cnf',
  '.git-credentials',
  '.config/git/credentials',
  '.password-store',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.mozilla',
  '.thunderbird',
  '.config/chromium',
  '.config/google-chrome',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  '.config/vivaldi',
  '.config/Signal',
  '.bash_history',
  '.zsh_history',
  'Library/Keychains',
  'Library/Cookies',
  'Library/Safari',
  'Library/Application Support/Google/Chrome',
  'Library/Application Support/Firefox',
];
