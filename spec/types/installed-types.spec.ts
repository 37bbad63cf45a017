import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InstalledPackage } from '../helpers/installed.js';
import { root } from '../house/sources.js';

/** Our declarations are part of our users' programs: theirs may check them, and have no types but ours. */
describe('the declarations of the packed package', function () {
  this.timeout(120_000);
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
        const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
          exports: Record<string, unknown>;
        };
        const entries = Object.keys(exports).filter((name) => !name.endsWith('.json'));
        expect(entries.length).to.be.greaterThan(5);
        const lines = entries.map(
          (name, n) => `export * as entry${n} from '${name.replace('.', 'troupe')}';`,
        );
        expect(
          await project.compile(
            { 'entries.ts': lines.join('\n') },
            {
              compiler: path,
              ...resolution,
              skipLibCheck: false,
              exactOptionalPropertyTypes: false, // XState's own declarations do not bear it
            },
          ),
        ).to.equal('');
      });
});
