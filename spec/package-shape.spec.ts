import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core';
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { packed } from './helpers/installed.js';

const execute = promisify(execFile);

/**
 * The shape of the package, judged by the two tools with which its users would judge it: entries that lead nowhere,
 * types that say another module system than the code has.
 */
describe('the shape of the packed package', function () {
  this.timeout(180_000);
  let folder: string;
  let tarball: Buffer;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-shape-'));
    tarball = await readFile((await packed()).tarball);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('has nothing that publint would better', async () => {
    expect(await linted(tarball)).to.deep.equal([]);
  });

  it('has types that say what its code is, for every way of finding it that ES modules have', async () => {
    expect(await mistyped(tarball)).to.deep.equal([]);
  });

  it('would notice an entry without its file, and types of another kind than the code', async () => {
    const home = join(folder, 'wrong', 'package');
    await mkdir(home, { recursive: true });
    const manifest = {
      name: 'wrong',
      version: '1.0.0',
      exports: {
        '.': { types: './index.d.cts', default: './index.mjs' },
        './gone': './gone.js',
      },
    };
    await writeFile(join(home, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(home, 'index.mjs'), 'export const one = 1;\n');
    await writeFile(join(home, 'index.d.cts'), 'export declare const one: number;\n');
    const file = join(folder, 'wrong.tgz');
    await execute('tar', ['-czf', file, '-C', join(folder, 'wrong'), 'package']);
    const wrong = await readFile(file);
    expect(await linted(wrong)).to.include('FILE_DOES_NOT_EXIST');
    expect(await mistyped(wrong)).to.include('FalseCJS');
  });
});

const linted = async (tarball: Buffer): Promise<readonly string[]> => {
  const bytes = new Uint8Array(tarball);
  const { messages } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
  // dist/command/package.json is for the command itself, whose modules find `troupe` by it, and not for npm
  return messages.map(({ code }) => code).filter((code) => code !== 'NESTED_PACKAGE_JSON_FIELD_IGNORED');
};

/** Kinds of problems. What Node 10 and `require` find is left out: this package is of ES modules alone. */
async function mistyped(tarball: Buffer): Promise<readonly Problem['kind'][]> {
  const result = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
  if (result.types === false) return ['NoResolution'];
  return result.problems
    .filter(
      (problem) =>
        !('resolutionKind' in problem) || !['node10', 'node16-cjs'].includes(problem.resolutionKind),
    )
    .map(({ kind }) => kind);
}
