import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InstalledPackage } from '../helpers/installed.js';
import { root } from '../house/sources.js';

/** Our declarations are part of our users' programs: theirs may check them, and have no types but ours. */
describe('the declarations of the packed package', function () {
  this.timeout(180_000);
  let project: InstalledPackage;
  before(async () => {
    project = await InstalledPackage.create();
  });
  after(() => project.clear());

  const compilers = {
    'TypeScript 7': 'node_modules/typescript',
    'TypeScript 5.9': 'generators/node_modules/typescript',
  };
  const resolutions = [
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'node16', moduleResolution: 'node16' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ];
  for (const [compiler, path] of Object.entries(compilers))
    for (const resolution of resolutions)
      it(`compile strictly without skipLibCheck: ${compiler}, ${resolution.moduleResolution}`, async () => {
        expect(await complaints({ compiler: path, ...resolution })).to.equal('');
      });

  // 5.33 gave its types a parameter that ours name: a range that began below would compile for no host of it
  it('compile with the lowest XState that a host may bring', async () => {
    await project.link('xstate-lowest', 'xstate');
    try {
      expect(await complaints({ compiler: compilers['TypeScript 7'], ...resolutions[0] })).to.equal('');
    } finally {
      await project.link('xstate');
    }
  });

  async function complaints(options: { readonly compiler: string; readonly [option: string]: unknown }) {
    const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      exports: Record<string, unknown>;
    };
    const entries = Object.keys(exports).filter((name) => !name.endsWith('.json'));
    expect(entries.length).to.be.greaterThan(5);
    const lines = entries.map((name, n) => `export * as entry${n} from '${name.replace('.', 'troupe')}';`);
    return project.compile(
      { 'entries.ts': lines.join('\n') },
      {
        ...options,
        skipLibCheck: false,
        exactOptionalPropertyTypes: false, // XState's own declarations do not bear it
      },
    );
  }
});
