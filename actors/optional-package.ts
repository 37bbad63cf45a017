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
