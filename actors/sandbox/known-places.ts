/** Names of places that matter to a sandbox, as they are on most machines. Pure lists; `places.ts` looks. */

/** Who can speak to one of these can have a process started, or keys typed, outside of any sandbox. */
export const controlPlaces = [
  '/run/docker.sock',
  '/run/podman',
  '/run/containerd',
  '/run/crio',
  '/run/dbus',
  '/run/systemd/private',
  '/run/snapd.socket',
  '/run/libvirt',
  '/run/screen',
  '/run/tmux',
  '/tmp/.X11-unix',
  '/tmp/screens',
];

/** The same on macOS. */
export const controlPlacesOfMac = ['/private/var/run/docker.sock', '/private/tmp/.X11-unix'];

/** The same below the user's own folder; and the cookie that opens a display also without its socket. */
export const controlInHome = [
  '.docker/run',
  '.docker/desktop',
  '.colima',
  '.lima',
  '.orbstack/run',
  '.rd/docker.sock',
  '.local/share/containers/podman/machine',
  '.screen',
  '.emacs.d/server',
  '.Xauthority',
];

/** Written by the superuser alone; agents of a gateway that runs as such would be run by the system. */
export const runBySystem = [
  '/etc/crontab',
  '/etc/cron.d',
  '/etc/cron.daily',
  '/etc/cron.hourly',
  '/etc/profile.d',
  '/etc/systemd',
  '/etc/ld.so.preload',
  '/var/spool/cron',
];

/** Kept of the run folder. */
export const sharedReads = [
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/NetworkManager/resolv.conf',
  '/run/current-system',
  '/run/opengl-driver',
];

/** What the user's shell or desktop runs later. */
export const runLater = [
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
  '.config/plasma-workspace',
  '.local/share/dbus-1',
  '.local/share/systemd',
  '.bash_aliases',
  '.pam_environment',
  '.xprofile',
  '.xinitrc',
  '.xsession',
  '.xsessionrc',
  '.ssh',
  'Library/LaunchAgents',
];

/**
 * Below the user's own folder, where a new name is a setting or a program to come: no agent at `home` changes these.
 * The user's own folder is one, too; what is a folder in it stays as it is, unless it is listed here.
 */
export const readOnlyAtHome = [
  '.bash_completion.d',
  '.bashrc.d',
  '.config',
  '.emacs.d',
  '.git-templates',
  '.githooks',
  '.local',
  '.oh-my-zsh',
  '.profile.d',
  '.vim',
  '.vscode',
  '.zsh',
  '.zshrc.d',
  'bin',
];

/** Settings of agents: the same, but for what is no setting. */
export const agentSettings = ['.claude', '.codex', '.copilot', '.cursor', '.gemini', '.qwen'];
const ofAgents = [
  'cache',
  'debug',
  'history',
  'logs',
  'log',
  'projects',
  'sessions',
  'session-state',
  'tmp',
  'todos',
];

/** Data of programs: what is there stays writable, but for what a desktop, a shell or an editor runs. */
export const dataOfPrograms = '.local/share';
export const runFromData = [
  'applications',
  'autostart',
  'bash-completion',
  'dbus-1',
  'fish',
  'gnome-shell',
  'kio',
  'nautilus',
  'nvim',
  'plasma',
  'systemd',
  'vim',
  'zsh',
];

/** What stays writable of all those. */
export const writableAtHome = [
  '.local/lib',
  '.local/state',
  ...agentSettings.flatMap((folder) => ofAgents.map((name) => `${folder}/${name}`)),
];

/** Of many folders of the user's these stay writable at `home` in any case: without them no build works. */
export const cachesOfBuilds = [
  ...['.bun', '.bundle', '.cabal', '.cache', '.cargo', '.conda', '.deno', '.gem', '.gradle', '.ivy2', '.m2'],
  ...['.npm', '.nuget', '.nvm', '.pnpm-store', '.pub-cache', '.pyenv', '.rbenv', '.rustup', '.sbt', '.stack'],
  ...['.yarn', 'go'],
];

/** Programs of the user's own; below some of these there are credentials too, which `secrets` hides again. */
export const toolchains = [
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

/** Keys, credentials and browsers. */
export const secrets = [
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
