import { expect } from 'chai';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './helpers/command.js';
import { packed, type Packed } from './helpers/installed.js';
import { installedFor, own, peersOf } from './helpers/locked.js';
import { root } from './house/sources.js';

/**
 * What an installation costs a disk, in whole blocks of a file system: 83 MiB and 196 packages before what the gateway
 * uses of its packages was bundled; nearly all of them were never loaded.
 */
describe('the installed package', () => {
  let files: ReadonlyMap<string, number>;
  before(async () => {
    files = new Map(filesOf(await packed()));
  });

  it('takes at most 45 MB and 50 packages', () => {
    const packages = installedFor([...Object.keys(own.dependencies ?? {}), ...peersOf(own)]);
    const others = [...packages.keys()].map((folder) => [folder, bytesIn(join(root, folder))] as const);
    const all = [['troupe', [...files.values()].reduce(plus, 0)] as const, ...others];
    const megabytes = all.reduce((sum, [, bytes]) => sum + bytes, 0) / 1e6;
    const listed = all.map(([name, bytes]) => `${name} ${(bytes / 1e6).toFixed(1)}`).join(', ');
    expect(all.length, listed).to.be.within(10, 50);
    expect(megabytes, listed).to.be.within(15, 45);
  });

  it('has the bundle, the pages and the client, which others bundle; of the rest declarations alone', () => {
    const scripts = [...files.keys()].filter((name) => name.endsWith('.js'));
    expect(scripts.length).to.be.greaterThan(100);
    expect(
      scripts.filter(
        (name) => !/^dist\/(?:command|lib\/client|lib\/(?:console|inspector)\/page)\//.test(name),
      ),
    ).to.deep.equal([]);
  });
});

/** The files that npm packs, with what each takes. */
function filesOf({ files }: Packed): readonly (readonly [string, number])[] {
  // builds before the last leave files for gateways that run from this folder; npm has them removed before it packs
  const builtAtMs = statSync(command).mtimeMs - 60_000;
  return files
    .filter(({ path }) => !path.startsWith('dist/command/') || statSync(join(root, path)).mtimeMs > builtAtMs)
    .map(({ path, size }) => [path, inBlocks(size)] as const);
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.slice(folder.length).includes('/node_modules'))
    .map((entry) => inBlocks(statSync(join(entry.parentPath, entry.name)).size))
    .reduce(plus, 0);

const inBlocks = (bytes: number): number => Math.ceil(bytes / 4096) * 4096;
function plus(one: number, other: number): number {
  return one + other;
}
