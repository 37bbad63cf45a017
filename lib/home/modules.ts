import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { register } from 'node:module';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Connector } from '../../actors/connectors/connector.js';
import type { Kind } from '../../actors/contracts.js';
import type { Engine } from '../../actors/engines/engine.js';
import { HomeError } from './home-error.js';
import type { Layout } from './layout.js';

/**
 * Programs of the user that become part of the gateway: `modules:` of config.yaml. They run with all that the
 * gateway may do, so that one which other users of this machine could change is refused. Read when the gateway
 * starts and never again.
 */
export interface Additions {
  readonly kinds: readonly Kind[];
  readonly engines: readonly Engine[];
  readonly connectors: readonly Connector[];
}

export interface ModuleFile {
  readonly path: string;
  /** Of its text, hex. What it imports is not covered. */
  readonly sha256: string;
}

/**
 * What the modules add, in their order.
 * @example const { kinds, files } = await loadModules(config.modules, layout);
 */
export async function loadModules(
  names: readonly string[],
  layout: Pick<Layout, 'home' | 'config'>,
): Promise<Additions & { readonly files: readonly ModuleFile[] }> {
  const files = await moduleFiles(names, layout);
  if (files.length > 0)
    register(findsThisPackage, {
      data: { own: import.meta.url, root: new URL('../../..', import.meta.url).href },
    });
  const added = await Promise.all(files.map(({ path }) => additionsOf(path, layout)));
  return {
    files,
    kinds: added.flatMap(({ kinds }) => kinds),
    engines: added.flatMap(({ engines }) => engines),
    connectors: added.flatMap(({ connectors }) => connectors),
  };
}

/** The files that `modules:` names, fit to be loaded; nothing is run. Rejects with a HomeError. */
export function moduleFiles(
  names: readonly string[],
  layout: Pick<Layout, 'home' | 'config'>,
): Promise<readonly ModuleFile[]> {
  return Promise.all(
    names.map(async (name): Promise<ModuleFile> => {
      const path = await realpath(resolve(layout.home, name)).catch((error: Error) => {
        throw unusable(name, layout, `cannot be read (${error.message})`, 'Correct the path, or remove it.');
      });
      for (let at = path; ; at = dirname(at)) {
        await refuseShared(at, name, layout);
        if (dirname(at) === at) break;
      }
      return {
        path,
        sha256: createHash('sha256')
          .update(await readFile(path))
          .digest('hex'),
      };
    }),
  );
}

/** Anyone who may write the file, or put another in its place or in that of a folder above it, would be the gateway. */
async function refuseShared(at: string, name: string, layout: Pick<Layout, 'config'>): Promise<void> {
  const { mode, uid } = await stat(at);
  if (process.getuid === undefined) return; // without users of this kind there are no such rights
  const own = process.getuid();
  if (uid !== own && uid !== 0)
    throw unusable(
      name,
      layout,
      `belongs to another user (${at})`,
      `Run: chown ${own} ${JSON.stringify(at)}`,
    );
  const sticky = (mode & 0o1000) !== 0; // there, others can replace nothing of ours
  if ((mode & 0o022) !== 0 && !sticky)
    throw unusable(name, layout, `can be changed by others (${at})`, `Run: chmod go-w ${JSON.stringify(at)}`);
}

async function additionsOf(path: string, layout: Pick<Layout, 'config'>): Promise<Additions> {
  const loaded = (await import(pathToFileURL(path).href).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw unusable(path, layout, `could not be loaded: ${reason}`, 'Fix the module, or remove it.', error);
  })) as { readonly default?: unknown };
  const given = loaded.default;
  if (typeof given !== 'object' || given === null)
    throw unusable(path, layout, 'has no default export', 'Export default { kinds, engines, connectors }.');
  const unknown = Object.keys(given).filter((member) => !isMember(member));
  const wrong = Object.entries(given).find(([, value]) => value !== undefined && !Array.isArray(value));
  if (unknown.length > 0 || wrong !== undefined)
    throw unusable(
      path,
      layout,
      unknown.length > 0
        ? `exports the unknown member "${unknown[0]}"`
        : `exports "${wrong?.[0]}", which is no list`,
      'Export default { kinds?, engines?, connectors? }, each a list.',
    );
  return { kinds: [], engines: [], connectors: [], ...given };
}

const isMember = (name: string): boolean => name === 'kinds' || name === 'engines' || name === 'connectors';

const unusable = (
  name: string,
  { config }: Pick<Layout, 'config'>,
  what: string,
  remedy: string,
  cause?: unknown,
) => new HomeError('BAD_CONFIG', `${config}, modules: "${name}" ${what}.`, remedy, { cause });

/**
 * Modules of a home say `import { defineKind } from 'troupe'` without an installation of their own: what they do
 * not find beside them is looked for where this package is. Where they find this very package, they get what runs of
 * it: the command is bundled, and its files one by one would be a second copy of everything.
 */
const findsThisPackage = `data:text/javascript,${encodeURIComponent(`
let own, root;
export const initialize = (data) => { ({ own, root } = data); };
export async function resolve(specifier, context, next) {
  try {
    const found = await next(specifier, context);
    if (!/^troupe(\\/|$)/.test(specifier) || !found.url.startsWith(root)) return found;
    return await next(specifier, { ...context, parentURL: own });
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/^(troupe|xstate)(\\/|$)/.test(specifier)) throw error;
    return next(specifier, { ...context, parentURL: own });
  }
}`)}`;
