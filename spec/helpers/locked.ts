import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../house/sources.js';

/** A package as package-lock.json has it. */
export interface Locked {
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};

/** What the package itself asks for. */
export const own: Locked = packages[''] ?? { version: '' };

/** The names of the peers without which a package does not work. */
export const peersOf = ({ peerDependencies = {}, peerDependenciesMeta = {} }: Locked): readonly string[] =>
  Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);

/**
 * What npm installs for these names, each with its folder below the project: their dependencies and what these need,
 * found as Node finds it. Packages for other systems are in the lock file, too.
 */
export function installedFor(names: readonly string[]): ReadonlyMap<string, Locked> {
  const found = new Map<string, Locked>();
  const waiting = names.map((name) => ({ name, from: '', isNeeded: true }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const folder = folderOf(next.name, next.from);
    const locked = folder === undefined ? undefined : packages[folder];
    if (folder === undefined || locked === undefined) {
      if (next.isNeeded) throw new Error(`${next.name}, which ${next.from || 'troupe'} needs, is not locked`);
      continue;
    }
    if (found.has(folder)) continue;
    found.set(folder, locked);
    const wanted = [...Object.keys(locked.dependencies ?? {}), ...peersOf(locked)];
    waiting.push(...wanted.map((name) => ({ name, from: folder, isNeeded: true })));
    const optional = Object.keys(locked.optionalDependencies ?? {});
    waiting.push(...optional.map((name) => ({ name, from: folder, isNeeded: false })));
  }
  return found;
}

function folderOf(name: string, from: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const folder = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (packages[folder] !== undefined) return folder;
    if (at === '') return undefined;
  }
}

/** The packages of these names and versions, wherever they lie. */
export const lockedAs = (name: string, version: string): readonly Locked[] =>
  Object.entries(packages)
    .filter(([folder, locked]) => folder.endsWith(`node_modules/${name}`) && locked.version === version)
    .map(([, locked]) => locked);
