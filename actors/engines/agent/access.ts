import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Engine, EngineAccess } from '../engine.js';
import type { AgentProgram } from './program.js';

/**
 * How an agent program gets in at its provider here, as far as that can be seen from outside: the files of its logins
 * and the names of variables. No value is read, and no one is asked. Keys are passed only where the settings name them,
 * so a key that lies ready in the gateway's environment is pointed out, not used.
 */
export interface ProgramLogins {
  /** Where a login lies, relative to the user's folder or absolute. */
  readonly files: readonly string[];
  /** Variables by which the program takes a key. */
  readonly keys: readonly string[];
  /** What logs a person in. */
  readonly remedy: string;
  /** Its login may lie where no file shows it: a keychain, or it needs none for some models. */
  readonly isUnseen?: boolean;
}

/** Engine settings as `config.yaml` calls them: `engines.claude`. */
type Settings = Pick<AgentProgram, 'apiKeyEnv' | 'env' | 'absent' | 'baseUrl'> & { readonly section: string };

/** @example await accessOf({ section: 'engines.claude' }, claudeLogins()) // { state: 'ready', what: 'login in …' } */
export async function accessOf(settings: Settings, logins: ProgramLogins): Promise<EngineAccess> {
  const { apiKeyEnv, env = {}, absent = [], section } = settings;
  const isSet = (name: string): boolean => (process.env[name] ?? '') !== '';
  const given = (name: string): boolean => (env[name] ?? '') !== '' || name === apiKeyEnv;
  const notPassed = logins.keys.filter((name) => isSet(name) && !given(name));
  const lacking = [
    ...new Set([...absent, ...(apiKeyEnv === undefined || isSet(apiKeyEnv) ? [] : [apiKeyEnv])]),
  ];
  const rest = { notPassed, absent: lacking };
  const passed =
    apiKeyEnv !== undefined && isSet(apiKeyEnv)
      ? apiKeyEnv
      : logins.keys.find((name) => (env[name] ?? '') !== '');
  if (passed !== undefined) return { state: 'ready', what: `key from ${passed}`, ...rest };
  if (apiKeyEnv !== undefined)
    return {
      state: 'missing',
      what: `${apiKeyEnv}, which ${section}.apiKeyEnv names, is not set for the gateway`,
      remedy: `export ${apiKeyEnv}=…, then start the gateway again`,
      ...rest,
    };
  const file = settings.baseUrl === undefined ? await firstThere(logins.files) : undefined;
  if (file !== undefined) return { state: 'ready', what: `login in ${file}`, ...rest };
  const [ready] = notPassed;
  if (ready !== undefined)
    return {
      state: logins.isUnseen === true ? 'unknown' : 'missing',
      what: `no login was found; ${ready} is set for the gateway and not passed on`,
      remedy: `put "apiKeyEnv: ${ready}" under ${section} in config.yaml, or: ${logins.remedy}`,
      ...rest,
    };
  if (settings.baseUrl !== undefined)
    return { state: 'unknown', what: 'no key is passed to baseUrl', ...rest };
  return logins.isUnseen === true
    ? {
        state: 'unknown',
        what: 'no login was found in a file; it may lie elsewhere',
        remedy: logins.remedy,
        ...rest,
      }
    : { state: 'missing', what: 'no login and no key were found', remedy: logins.remedy, ...rest };
}

/** As a person writes it: `~/.claude/.credentials.json`. */
async function firstThere(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    const path = file.startsWith('/') ? file : join(homedir(), file);
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return file.startsWith('/') ? file : `~/${file}`;
  }
  return undefined;
}

/** What a person who waits for a first answer should know; undefined where nothing is amiss. */
export function accessNotice(
  engine: string,
  { state, what, remedy, notPassed, absent }: EngineAccess,
): string | undefined {
  const parts = [
    ...(state === 'missing'
      ? [`${engine}: ${what}.${remedy === undefined ? '' : ` To fix it: ${remedy}.`}`]
      : []),
    ...(state === 'ready' && notPassed.length > 0
      ? [`${engine} uses its ${what}; not passed on to it: ${notPassed.join(', ')}.`]
      : []),
    ...(absent.length > 0 && state !== 'missing'
      ? [`${engine} is to be given ${absent.join(', ')}, which the gateway does not have.`]
      : []),
  ];
  return parts.length === 0 ? undefined : parts.join(' ');
}

/** Said before a first answer, and where it fails: a program without a login says so in words of its own. */
export async function lackOf(engine: Pick<Engine, 'name' | 'access'>): Promise<string | undefined> {
  const access = await engine.access?.().catch(() => undefined);
  return access && accessNotice(engine.name, access);
}
