import { isDeepStrictEqual } from 'node:util';
import { isMap, parseDocument, type Document } from 'yaml';
import type { Json } from '../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { contentHash, readPlainFile, writeAtomically } from './atomic-file.js';
import { engineFamilies } from './engine-settings.js';
import { HomeError } from './home-error.js';
import type { LiveConfig } from './live-config.js';
import { isLive } from './live-keys.js';
import { configBytesMax, parseConfig } from './read-config.js';
import { shownConfig } from './shown-config.js';

/**
 * Settings changed from afar (`PUT /api/config`). A console sends the settings that it was shown, with its changes:
 * what differs is written into config.yaml, comments and order stay. Anyone who holds a paired browser may name and
 * tune; what runs programs, opens a way in, hides what happened or loosens a wall is only changed in the file, by
 * the one who may write it. Keys are therefore listed that may be changed, not those that may not.
 */
const editable: ReadonlySet<string> = new Set([
  'portal.companyName',
  'portal.companyPrefix',
  'portal.portalName',
  'portal.timeZone',
  'engines.default',
  'engines.maxProcesses',
  'sessions.interruptOnNewMessage',
  'sessions.turnDeadlineMinutes',
  'sessions.silenceMinutes',
  'sessions.silenceAction',
  'approvals.escalateAfterHours',
  'logging.level',
]);

export interface EditedConfig {
  readonly status: 'ok';
  /** Keys that were written. */
  readonly changed: readonly string[];
  /** Those of them that hold after a restart. */
  readonly needsRestart: readonly string[];
  /** The settings that hold now. */
  readonly config: Json;
}

/** What is shown of the settings and may be changed of them: `remoteConfig({ path: layout.config, live })` */
export function remoteConfig({ path, live }: { readonly path: string; readonly live: LiveConfig }) {
  let last: Promise<unknown> = Promise.resolve();
  return {
    config: (): Json => shownConfig(live.current),
    /** One edit after the other. */
    edit(given: Json): Promise<EditedConfig | Refusal> {
      const mine = last.then(() => edit(path, live, given));
      last = mine.catch(() => undefined); // its caller hears of it
      return mine;
    },
  };
}

async function edit(path: string, live: LiveConfig, given: Json): Promise<EditedConfig | Refusal> {
  const bytes = await readPlainFile(path, configBytesMax);
  const text = bytes?.toString('utf8') ?? '';
  const stored = attempt(() => parseConfig(text, path));
  if (isRefusal(stored)) return stored;
  const changes = differences(given, shownConfig(stored), []);
  const kept = changes.find(({ at }) => !mayChange(at));
  if (kept !== undefined) return onlyInTheFile(kept.at);
  if (changes.length > 0) {
    const next = edited(text, changes);
    if (next === undefined) return shared(changes);
    const checked = attempt(() => parseConfig(next, 'config.yaml'));
    if (isRefusal(checked)) return checked;
    const unlessChangedFrom = bytes === undefined ? null : contentHash(bytes);
    const failed = await writeAtomically(path, next, { mode: 0o600, unlessChangedFrom }).then(
      () => undefined,
      changedMeanwhile,
    );
    if (failed) return failed;
    await live.poll();
  }
  const changed = changes.map(({ at }) => at.join('.'));
  const needsRestart = changed.filter((key) => !isLive(key));
  return { status: 'ok', changed, needsRestart, config: shownConfig(live.current) };
}

interface Change {
  readonly at: readonly string[];
  readonly value: Json;
}

/** What was sent and is not as it was shown; members that were not sent stay. */
function differences(given: Json, shown: Json | undefined, at: readonly string[]): readonly Change[] {
  if (isObject(given) && (isObject(shown) || at.length === 0))
    return Object.entries(given).flatMap(([name, value]) =>
      differences(value, isObject(shown) && Object.hasOwn(shown, name) ? shown[name] : undefined, [
        ...at,
        name,
      ]),
    );
  if (isObject(given) && shown === undefined && Object.keys(given).length > 0)
    return Object.entries(given).flatMap(([name, value]) => differences(value, undefined, [...at, name]));
  return JSON.stringify(given) === JSON.stringify(shown) ? [] : [{ at, value: given }];
}

const isObject = (value: Json | undefined): value is { readonly [member: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The model of an engine may be chosen; what the engine runs, and its environment, may not. */
function mayChange(at: readonly string[]): boolean {
  if (at.some((name) => name.includes('.') || name === '__proto__')) return false; // no setting is called so
  const ofEngine = at[1] !== undefined && Object.hasOwn(engineFamilies, at[1]) ? 3 : 2;
  return (
    editable.has(at.join('.')) ||
    (at[0] === 'engines' && at.length === ofEngine + 1 && at[ofEngine] === 'model')
  );
}

const onlyInTheFile = (at: readonly string[]): Refusal =>
  refuse(
    'FORBIDDEN',
    { key: at.join('.'), file: 'config.yaml' },
    `"${at.join('.')}" is not changed from afar. Edit config.yaml in the gateway's home.`,
  );

/**
 * The text with the changes; `null` takes a setting out, so that its default holds. Undefined: the file says it
 * by an anchor or an alias, and the change would change, or lose, other settings.
 */
function edited(text: string, changes: readonly Change[]): string | undefined {
  const document = parsed(text);
  const wanted = plain(document);
  if (!isMap(document.contents)) document.contents = document.createNode({});
  for (const { at, value } of changes) {
    setWithin(wanted, at, value);
    if (value !== null) {
      // A section whose every line is commented out is null, and holds nothing
      for (let depth = 1; depth < at.length; depth += 1)
        if (!isMap(document.getIn(at.slice(0, depth))))
          document.setIn(at.slice(0, depth), document.createNode({}));
      document.setIn(at, value);
    } else if (document.hasIn(at)) document.deleteIn(at);
  }
  const next = printed(document);
  return next !== undefined && isDeepStrictEqual(plain(parsed(next)), wanted) ? next : undefined;
}

const parsed = (text: string): Document => parseDocument(text, { version: '1.2', schema: 'core' });

/** Its values, none of them shared with another. It was parsed before: a map, or nothing. */
const plain = (document: Document): Plain => (JSON.parse(JSON.stringify(document.toJS())) ?? {}) as Plain;

type Plain = { [member: string]: Json };

function setWithin(settings: Plain, [name = '', ...below]: readonly string[], value: Json): void {
  const inner = settings[name];
  if (below.length > 0) {
    if (value === null && !isObject(inner)) return; // its default holds already
    const section: Plain = isObject(inner) ? { ...inner } : {};
    setWithin(section, below, value);
    settings[name] = section;
  } else if (value === null) delete settings[name];
  else settings[name] = value;
}

/** Undefined: an alias would be left without its anchor. */
function printed(document: Document): string | undefined {
  try {
    return document.toString({ lineWidth: 0 });
  } catch {
    return undefined;
  }
}

const shared = (changes: readonly Change[]): Refusal =>
  refuse(
    'CONFLICT',
    { keys: changes.map(({ at }) => at.join('.')), file: 'config.yaml' },
    "config.yaml shares these settings with others by an anchor (&). Edit the file in the gateway's home.",
  );

/** The faults of a file are what the caller reads. */
function attempt<Value>(read: () => Value): Value | Refusal {
  try {
    return read();
  } catch (error) {
    if (error instanceof HomeError) return refuse('BAD_REQUEST', {}, error.message);
    throw error;
  }
}

function changedMeanwhile(error: unknown): Refusal {
  if (error instanceof HomeError && error.code === 'CHANGED_MEANWHILE')
    return refuse('CONFLICT', {}, 'config.yaml has changed since it was read. Read it again.');
  throw error;
}
