import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { outputOf, ProgramError } from '../../start-program.js';
import { commandFacts } from '../executable.js';
import type { EngineModel } from '../engine.js';
import { childEnvironment } from '../process/environment.js';

/** What the settings of an engine say about its program. Everything may be absent. */
export interface AgentProgram {
  /** Exact string in the API. Default: the engine's own name. */
  readonly name?: string;
  /** Program to run: a name on the PATH or an absolute path. */
  readonly bin?: string;
  /** Further arguments of the operator's, before ours. */
  readonly args?: readonly string[];
  /** Further environment of the program. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that were to be passed on to it, and that the gateway does not have. */
  readonly absent?: readonly string[];
  /** Model of sessions that name none. */
  readonly model?: string;
  /** What may be chosen, in place of what the engine knows by itself. */
  readonly models?: readonly (string | EngineModel)[];
  /** Effort of turns that name none. */
  readonly effort?: string;
  /** Another endpoint than the provider's own. */
  readonly baseUrl?: string;
  /** Name of the gateway's own environment variable that holds the key. Only then does the program get it. */
  readonly apiKeyEnv?: string;
  /** Tools that need not be asked for; `*` is all. */
  readonly allow?: readonly string[];
}

export type ProgramFacts =
  | {
      readonly available: true;
      readonly executable: string;
      readonly version?: string;
      readonly olderThan?: string;
      readonly remedy?: string;
    }
  | { readonly available: false; readonly reason: string; readonly remedy: string };

/**
 * Looks for the program and its version; the version is asked for once per file as it is. `leastVersion`: the oldest
 * one that was tried; `remedy` installs a newer one, too.
 */
export function programFinder(
  program: string,
  remedy: string,
  leastVersion?: string,
): () => Promise<ProgramFacts> {
  const versions = new Map<string, Promise<string | undefined>>();
  return async () => {
    const facts = await commandFacts(program, remedy);
    if (!facts.available) return facts;
    const file = await realpath(facts.executable);
    const key = `${file} ${(await stat(file)).mtimeMs}`;
    const version = versions.get(key) ?? versionOf(file);
    versions.set(key, version);
    const known = await version;
    if (known === undefined) return facts;
    const isOld = leastVersion !== undefined && isOlder(known, leastVersion);
    return { ...facts, version: known, ...(isOld && { olderThan: leastVersion, remedy }) };
  };
}

/** By the numbers alone. `isOlder('2.1.9', '2.1.197') // true` */
function isOlder(version: string, least: string): boolean {
  const [own, wanted] = [version, least].map((text) => (text.match(/\d+/g) ?? []).slice(0, 3).map(Number));
  for (const place of [0, 1, 2]) {
    const difference = (own?.[place] ?? 0) - (wanted?.[place] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** npm programs say it in their package; to ask the program itself takes some of them seconds. */
async function versionOf(file: string): Promise<string | undefined> {
  for (let folder = dirname(file), steps = 0; steps < 4; folder = dirname(folder), steps += 1) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
    const version = text === undefined ? undefined : versionIn(text);
    if (version !== undefined) return version;
  }
  const limits = { timeoutMs: 3_000, bytesMax: 64 * 1024 };
  const said = await outputOf(file, ['--version'], { ...limits, env: childEnvironment({}, 'version') }).catch(
    (error: unknown) => (error instanceof ProgramError ? error.stdout : ''),
  );
  return /\d+\.\d+(?:\.\d+)?[\w.-]*/.exec(said)?.[0];
}

function versionIn(text: string): string | undefined {
  try {
    const { bin, version } = JSON.parse(text) as { readonly bin?: unknown; readonly version?: unknown };
    return bin !== undefined && typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}

/** Model records from ids: all with the same effort levels. */
export function modelsOf(
  models: readonly (string | EngineModel)[],
  effortLevels: readonly string[],
): readonly EngineModel[] {
  return models.map((model) =>
    typeof model === 'string'
      ? { id: model, label: model, supportsEffort: effortLevels.length > 0, effortLevels }
      : model,
  );
}

/**
 * The id under which the program's own choice stands in the list of models: nothing is put on the command
 * line for it.
 */
export const ownChoice = 'default';

/**
 * What was chosen, as it may stand on a command line or in a request; the program's own choice and nothing
 * are undefined.
 */
export function chosenWord(word: string | null | undefined): string | undefined {
  if (word === null || word === undefined || word === ownChoice) return undefined;
  // the registry has compared it with the list; what looks like an option is refused even so
  if (!/^[A-Za-z0-9][\w.:/@+[\]-]{0,199}$/.test(word))
    throw new TypeError(`Invalid model or effort level "${word.slice(0, 50)}".`);
  return word;
}

/** The key of the provider, if the settings name a variable and the gateway has it. */
export function apiKey({ apiKeyEnv }: Pick<AgentProgram, 'apiKeyEnv'>): string | undefined {
  return apiKeyEnv === undefined ? undefined : process.env[apiKeyEnv];
}

/** Hosts of a provider, as `host:port`: of the address that was configured, else its usual ones. */
export function providerHosts(baseUrl: string | undefined, usual: readonly string[]): readonly string[] {
  if (baseUrl === undefined) return usual;
  const { hostname, port, protocol } = new URL(baseUrl);
  return [`${hostname}:${port === '' ? (protocol === 'http:' ? 80 : 443) : port}`];
}
