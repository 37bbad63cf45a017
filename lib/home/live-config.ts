import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { isLive, liveKeys, reloadKey } from './live-keys.js';
import { readConfig } from './read-config.js';

/**
 * config.yaml while the gateway runs. A change is taken over as soon as the file is whole and sound; what
 * cannot be used changes nothing and is said. Some settings are built into what already runs: those wait for
 * a restart, by name.
 */
export interface LiveConfig {
  /** The settings that hold now: what was taken over, on top of those of the start. */
  readonly current: Config;
  /** What the last look found. */
  onChange(listener: (change: ConfigChange) => void): void;
  /** Look now. */
  poll(): Promise<void>;
  close(): void;
}

export type ConfigChange =
  | {
      readonly type: 'taken';
      /** Keys that hold from now on. */ readonly applied: readonly string[];
      /** Keys whose new values hold after a restart. */ readonly needsRestart: readonly string[];
      /** Keys that hold after POST /api/connectors/reload. */ readonly needsReload: readonly string[];
    }
  | { readonly type: 'refused'; readonly reason: string };

/** `const live = watchConfig({path: layout.config, initial: config, log}); live.current.sessions.roots` */
export function watchConfig(options: {
  readonly path: string;
  readonly initial: Config;
  readonly log: Logger;
}): LiveConfig {
  const { path, log } = options;
  const listeners = new Set<(change: ConfigChange) => void>();
  let current = options.initial;
  let wanted = flat(options.initial);
  let mark: string | undefined;
  let running: Promise<void> = Promise.resolve();
  let quiet: NodeJS.Timeout | undefined;
  let closed = false;

  const notify = (change: ConfigChange): void => {
    for (const listener of listeners) listener(change);
  };

  async function poll(): Promise<void> {
    const now = await markOf(path);
    if (closed || now === mark) return;
    const first = mark === undefined;
    mark = now;
    try {
      const next = await readConfig(path);
      const changed = changedKeys(wanted, flat(next));
      wanted = flat(next);
      if (changed.length === 0) return;
      const applied = changed.filter(isLive);
      const needsReload = changed.filter((key) => key === reloadKey);
      const needsRestart = changed.filter((key) => !isLive(key) && key !== reloadKey);
      current = merged(current, next);
      log.info({ applied, needsRestart, needsReload }, 'configuration reloaded');
      notify({ type: 'taken', applied, needsRestart, needsReload });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error({ reason }, 'configuration change rejected; previous settings kept');
      if (!first) notify({ type: 'refused', reason });
    }
  }

  const inOrder = (): Promise<void> => (running = running.then(poll, poll));
  const soon = (): void => {
    clearTimeout(quiet);
    quiet = setTimeout(() => void inOrder(), quietMs).unref();
  };
  // Editors put a new file in the old one's place: the folder sees that, the file would not.
  const watching = attempt(() =>
    watch(dirname(path), { persistent: false }, (_event, name) => {
      if (name === basename(path)) soon();
    }),
  );
  watching?.on('error', () => watching.close());
  const polling = setInterval(() => void inOrder(), pollEveryMs).unref(); // notices can be lost
  void inOrder();

  return {
    get current() {
      return current;
    },
    onChange: (listener) => void listeners.add(listener),
    poll: inOrder,
    close() {
      closed = true;
      clearTimeout(quiet);
      clearInterval(polling);
      watching?.close();
    },
  };
}

const quietMs = 100;
const pollEveryMs = 5_000;

/** Sections and their members: `{'gateway.port': 7420, …}`. Lists and deeper values are compared whole. */
export function flat(config: Config): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>(
    Object.entries(config).flatMap(([section, members]): (readonly [string, unknown])[] =>
      Array.isArray(members) || typeof members !== 'object'
        ? [[section, members]]
        : Object.entries(members).map(([name, value]) => [`${section}.${name}`, value]),
    ),
  );
}

const changedKeys = (old: ReadonlyMap<string, unknown>, next: ReadonlyMap<string, unknown>): string[] =>
  [...new Set([...old.keys(), ...next.keys()])].filter(
    (key) => JSON.stringify(old.get(key)) !== JSON.stringify(next.get(key)),
  );

/** The old settings with the live ones of the new. */
function merged(old: Config, next: Config): Config {
  const made = structuredClone(old);
  for (const key of liveKeys) {
    const [section = '', name = ''] = key.split('.');
    if (section in made) sectionOf(made, section)[name] = sectionOf(next, section)[name];
  }
  return made;
}

/** Every section with live keys is a record of them. */
const sectionOf = (config: Config, section: string): Record<string, unknown> =>
  config[section as keyof Config] as Record<string, unknown>;

async function markOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino}.${size}.${mtimeNs}.${ctimeNs}`;
  } catch {
    return 'absent';
  }
}

const attempt = <Made>(make: () => Made): Made | undefined => {
  try {
    return make();
  } catch {
    return undefined; // a folder that cannot be watched is looked at
  }
};
