import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { HomeError } from './home-error.js';

/**
 * Where everything of one instance lives. People and agents edit files (configuration, roster, skills,
 * knowledge); actors live in `store/` and its second copy `store-copy/`. This is the only place that spells
 * these names.
 */
export interface Layout {
  /**
   * `default`, or the name given with `--instance`. Names the cookies, so that co-hosted gateways stay apart.
   */
  readonly instance: string;
  /** Absolute path of the home. */
  readonly home: string;
  /** Settings, edited by people. */
  readonly config: string;
  /** Host, port, pid, url, token and hook secret of the live gateway. 0600. */
  readonly announcement: string;
  /** Paired browsers, secrets hashed. 0600. */
  readonly authDevices: string;
  /** By what key messages to browsers are signed. 0600. */
  readonly pushKey: string;
  readonly org: string;
  readonly skills: string;
  readonly knowledge: string;
  readonly docs: string;
  readonly files: string;
  readonly uploads: string;
  readonly cronRuns: string;
  readonly workflowEvidence: string;
  readonly logs: string;
  readonly log: string;
  /** Who was allowed or refused what, chained. 0700. */
  readonly audit: string;
  /**
   * Settings and conversations of agent programs that are kept apart from the user's own: `engines/<engine>`.
   */
  readonly engines: string;
  /** Working folders of the programs that look for events: `polls/<binding>`. */
  readonly polls: string;
  /** Default working folders of sessions: `work/<session id>`. */
  readonly work: string;
  /** Sockets of sessions that have no other network. */
  readonly run: string;
  readonly store: string;
  readonly storeCopy: string;
  /** How far the log of a home in a database was seen to reach. */
  readonly position: string;
  readonly temporary: string;
}

export interface HomeChoice {
  /** `--home`: wins over everything. */
  readonly home?: string | undefined;
  /**
   * `--instance`: `~/.svc-<name>`. 1–32 characters of a–z, 0–9 and inner dashes, so that it fits cookies and
   * folders.
   */
  readonly instance?: string | undefined;
  /** Where SVC_HOME is looked up. Default: this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The person's own folder. Default: the system's answer. */
  readonly userFolder?: string;
}

/**
 * `layoutOf({home: 'demo'}).config` → `<cwd>/demo/config.yaml`. Touches no disk. The nearest setting wins:
 * `--home`, then `--instance`, then SVC_HOME, then `~/.svc`. Throws a HomeError (BAD_HOME) for a name or path
 * that cannot be used.
 */
export function layoutOf(choice: HomeChoice = {}): Layout {
  const instance = instanceName(choice.instance);
  const home = homeFolder(choice, instance);
  const within = (...parts: string[]): string => join(home, ...parts);
  return {
    instance,
    home,
    config: within('config.yaml'),
    announcement: within('gateway.json'),
    authDevices: within('auth-devices.json'),
    pushKey: within('push-key.json'),
    org: within('org'),
    skills: within('skills'),
    knowledge: within('knowledge'),
    docs: within('docs'),
    files: within('files'),
    uploads: within('uploads'),
    cronRuns: within('cron', 'runs'),
    workflowEvidence: within('workflow-evidence'),
    logs: within('logs'),
    log: within('logs', 'gateway.log'),
    audit: within('logs', 'audit'),
    engines: within('engines'),
    polls: within('polls'),
    work: within('work'),
    run: within('run'),
    store: within('store'),
    storeCopy: within('store-copy'),
    position: within('store-position.json'),
    temporary: within('tmp'),
  };
}

export const defaultInstance = 'default';

function instanceName(name: string | undefined): string {
  if (name === undefined) return defaultInstance;
  if (/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(name)) return name;
  throw new HomeError(
    'BAD_HOME',
    `Invalid instance name ${JSON.stringify(name)}.`,
    'Use 1 to 32 characters of a-z, 0-9 and dashes that neither begin nor end it.',
  );
}

function homeFolder(choice: HomeChoice, instance: string): string {
  if (choice.home !== undefined) return folder(choice.home, '--home');
  const user = choice.userFolder ?? homedir();
  if (instance !== defaultInstance) return join(folder(user, 'HOME'), `.svc-${instance}`);
  const fromEnvironment = (choice.env ?? process.env)['SVC_HOME'];
  if (fromEnvironment !== undefined && fromEnvironment !== '') {
    // A relative SVC_HOME would name another home in every folder that a command is typed in.
    if (!isAbsolute(fromEnvironment)) {
      throw new HomeError(
        'BAD_HOME',
        `SVC_HOME is ${JSON.stringify(fromEnvironment)}, which is not an absolute path.`,
        'Set an absolute path, or use --home.',
      );
    }
    return folder(fromEnvironment, 'SVC_HOME');
  }
  return join(folder(user, 'HOME'), '.svc');
}

function folder(path: string, source: string): string {
  if (path.trim() === '' || path.includes('\0')) {
    throw new HomeError(
      'BAD_HOME',
      `The path of the home given by ${source} is empty or contains a zero byte.`,
      'Use the path of a folder.',
    );
  }
  const absolute = resolve(path);
  if (absolute === resolve('/'))
    throw new HomeError(
      'BAD_HOME',
      `The home given by ${source} is the root of the file system.`,
      'Use a separate folder.',
    );
  return absolute;
}

/** Under which name a folder of the embedded store is kept once the home was moved into a database. */
export const movedStore = (folder: string): string => `${folder}.moved`;

/** Of a home whose settings do not say so yet. */
export const movedSentence = ({ home }: Pick<Layout, 'home'>): string =>
  `The store of ${home} was moved into PostgreSQL, but "store" in config.yaml says "level". Name the database there.`;

/**
 * Is this name in a home that of a store from before: damaged, distrusted, moved, or as it was before a migration? No
 * one removes it but a person, and what was erased since is still in it.
 */
export const isSetAside = (name: string): boolean =>
  /^(?:before-migration|migration-undone|store(?:-copy)?\.(?:damaged|distrusted|moved))/.test(name);
