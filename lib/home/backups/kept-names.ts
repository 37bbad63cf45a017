import { readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { parse } from 'yaml';

/**
 * What a backup holds of a home beside the store: what people, agents and the gateway keep, and the modules that
 * `config.yaml` names below the home. Without them a restored home would not start. A module that lies in a folder
 * comes with all of that folder, where what it imports lies.
 * @example for (const name of await keptNames(layout.home)) await copyTree(layout.home, target, name);
 */
export async function keptNames(home: string): Promise<readonly string[]> {
  const config = await readFile(join(home, 'config.yaml'), 'utf8').catch(() => '');
  return [...always, ...new Set(modulesIn(config).flatMap((name) => placeOf(home, name)))];
}

const always = [
  'config.yaml',
  'gateway.json',
  'auth-devices.json',
  'push-key.json',
  'trusted-folders.json',
  'org',
  'skills',
  'skills.json',
  'knowledge',
  'docs',
  'files',
  'uploads',
  'cron',
  'workflow-evidence',
];

/** Of these a backup holds what it holds anyway: they grow without bound, or are the store. */
const neverWhole = ['work', 'polls', 'engines', 'logs', 'run', 'store', 'store-copy', 'tmp'];

/** A file that is broken is copied like any other, and says so where it is read. */
function modulesIn(config: string): readonly string[] {
  try {
    const { modules } = (parse(config) ?? {}) as { readonly modules?: unknown };
    return Array.isArray(modules) ? modules.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

/** The first part of its path below the home; none for what lies elsewhere. */
function placeOf(home: string, module: string): readonly string[] {
  const [first = ''] = relative(home, resolve(home, module)).split(sep);
  return ['', '..', ...always, ...neverWhole].includes(first) ? [] : [first];
}
