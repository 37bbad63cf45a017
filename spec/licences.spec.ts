import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import './helpers/command.js'; // the notices are of what was compiled last
import { installedFor, lockedAs, own, type Locked } from './helpers/locked.js';
import { root } from './house/sources.js';

/** The one who installs Troupe must be able to pass it on: every package that comes with it has a known licence. */
describe('licences', () => {
  const allowed = new Set([
    'MIT',
    'MIT-0',
    'ISC',
    '0BSD',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'CC0-1.0',
    'Unlicense',
    'Python-2.0',
  ]);
  // `(MIT OR CC0-1.0)`: one of them is enough; `AND` is left to a person
  const isAllowed = ({ license = 'none' }: Locked): boolean =>
    license
      .replace(/^\((.*)\)$/, '$1')
      .split(' OR ')
      .some((one) => allowed.has(one));
  const refused = (packages: Iterable<readonly [string, Locked]>): readonly string[] =>
    [...packages]
      .filter(([, locked]) => !isAllowed(locked))
      .map(([place, { license }]) => `${place}: ${license}`);

  // Optional ones are development dependencies, too, and a check without those saw none of them
  it('are permissive ones in every package that a user gets, optional ones too', () => {
    const names = [...Object.keys(own.dependencies ?? {}), ...Object.keys(own.peerDependencies ?? {})];
    const shipped = installedFor(names);
    expect([...shipped.keys()]).to.include.members(['node_modules/xstate', 'node_modules/nodemailer']);
    expect(refused(shipped)).to.deep.equal([]);
    expect(refused([['wrong', { version: '1.0.0', license: 'AGPL-3.0' }]])).to.have.lengthOf(1);
  });

  for (const [folder, names] of [
    ['lib/inspector/page', ['preact', '@preact/signals', '@dagrejs/dagre']],
    ['lib/console/page', ['preact', '@preact/signals', 'marked', 'openapi-fetch']],
    // media-typer lies within the package that uses it, next to another version: its notice was missing
    ['command', ['koa', 'zod', 'ws', 'superjson', '@agentclientprotocol/sdk', 'media-typer']],
  ] as const)
    it(`of what is bundled into ${folder} ship with it, and are permissive ones`, () => {
      const notices = readFileSync(join(root, `dist/${folder}/notices.txt`), 'utf8');
      expect(notices).to.include('Permission is hereby granted');
      const bundled = notices
        .split(`\n${'-'.repeat(80)}\n\n`)
        .map((notice) => /^(\S+) (\d\S*)\n\n/.exec(notice)?.slice(1) ?? ['', notice.slice(0, 80)]);
      expect(bundled.map(([name]) => name)).to.include.members([...names]);
      const { bomFormat, components } = JSON.parse(
        readFileSync(join(root, `dist/${folder}/bom.json`), 'utf8'),
      ) as { bomFormat: string; components: readonly Component[] };
      expect(bomFormat).to.equal('CycloneDX');
      expect(components.map(({ name, version }) => [name, version])).to.deep.equal(bundled);
      for (const { name, version, purl } of components)
        expect(decodeURIComponent(purl)).to.equal(`pkg:npm/${name}@${version}`);
      const locked = bundled.map(([name = '', version = '']) => ({
        place: `${name} ${version}`,
        found: lockedAs(name, version),
      }));
      expect(locked.filter(({ found }) => found.length === 0).map(({ place }) => place)).to.deep.equal([]);
      expect(
        refused(locked.flatMap(({ place, found }) => found.map((one) => [place, one] as const))),
      ).to.deep.equal([]);
    });
});

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}
