import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Packages that few need are optional peers: they are loaded when they are used first, and where one is not
 * installed the refusal says which command installs it.
 */

/**
 * The module, loaded once. Rejects with a sentence that names the command when the package is not installed.
 * @example const { WebClient } = await optionalPackage('@slack/web-api', () => import('@slack/web-api'));
 */
export async function optionalPackage<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new Error(`The package "${name}" is not installed. Install it: ${installCommand(name)}`, {
      cause: error,
    });
  }
}

/** The command that installs the package; undefined where it is there. Loads nothing. */
export function missingPackage(name: string): string | undefined {
  try {
    import.meta.resolve(name);
    return undefined;
  } catch (error) {
    return isMissing(error, name) ? installCommand(name) : undefined;
  }
}

/**
 * What stands against the package: it is missing, or of a version that Troupe is not made for; undefined where it
 * fits. Loads nothing. `unfitPackage('@opentelemetry/resources') // 'is 1.30.1, and ^2.12.0 is needed'`
 */
export function unfitPackage(name: string, from = home): string | undefined {
  if (missingPackage(name) !== undefined) return 'is missing';
  const [version, range] = [installedVersion(name), rangeOf(name, from)];
  return version === undefined || fits(version, range) ? undefined : `is ${version}, and ${range} is needed`;
}

/** Its package.json stands above what is loaded; not all packages let it be asked for by name. */
function installedVersion(name: string): string | undefined {
  for (let at = dirname(fileURLToPath(import.meta.resolve(name))); at !== dirname(at); at = dirname(at)) {
    const file = join(at, 'package.json');
    if (!existsSync(file)) continue;
    const found = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
    if (found.name === name) return found.version;
  }
  return undefined;
}

/** `^1.2.3`, `~0.2.3` and `1.2.3`, as package.json has them. @example fits('1.4.0', '^1.2.3') // true */
export function fits(version: string, range: string): boolean {
  const [have, least] = [numbers(version), numbers(range)];
  if (have === undefined || least === undefined) return true; // no range that is read here: loading it will show
  const fixed = range.startsWith('~')
    ? 2
    : range.startsWith('^')
      ? least.findIndex((part) => part > 0) + 1
      : 3;
  for (const [place, part] of least.entries()) {
    const own = have[place] ?? 0;
    if (own !== part) return place >= fixed && own > part;
  }
  return true;
}

const numbers = (text: string): readonly number[] | undefined =>
  /^[~^]?(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number);

/** Node names the package that it looked for; another one, which that one lacks, is another fault. */
const isMissing = (error: unknown, name: string): boolean =>
  error instanceof Error &&
  (error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND' &&
  error.message.includes(`'${name}'`);

const home = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The command that puts packages where this one looks for them: beside it. Packages that are installed globally
 * lie in a folder that no package.json stands over.
 */
export function installCommand(names: string | readonly string[], from = home): string {
  const wanted = [names]
    .flat()
    .map((name) => `"${name}@${rangeOf(name, from)}"`)
    .join(' ');
  const folder = dirname(from.endsWith(sep) ? from.slice(0, -1) : from);
  if (!folder.endsWith(`${sep}node_modules`)) return `npm install ${wanted}`; // a checkout
  const project = dirname(folder);
  return existsSync(join(project, 'package.json'))
    ? `npm install --prefix ${JSON.stringify(project)} ${wanted}`
    : `npm install --global ${wanted}`;
}

/** The one that this package is tested with. */
function rangeOf(name: string, from: string): string {
  const { peerDependencies } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
    peerDependencies?: Record<string, string>;
  };
  return peerDependencies?.[name] ?? 'latest';
}
