import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  interface Locked {
    readonly dev?: boolean;
    /** A folder of this repository under another name. */
    readonly link?: boolean;
    readonly license?: string;
  }

  it('are permissive ones in every package that a user gets, optional ones too', async () => {
    const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, Locked>;
    };
    const shipped = Object.entries(packages).filter(
      ([path, { dev, link }]) => path !== '' && dev !== true && link !== true,
    );
    expect(shipped.length, 'the lock file is read as it should be').to.be.greaterThan(50);
    // `(MIT OR CC0-1.0)`: one of them is enough; `AND` is left to a person
    const isAllowed = (licence = 'none'): boolean =>
      licence
        .replace(/^\((.*)\)$/, '$1')
        .split(' OR ')
        .some((one) => allowed.has(one));
    expect(
      shipped
        .filter(([, { license }]) => !isAllowed(license))
        .map(([path, { license }]) => `${path}: ${license}`),
    ).to.deep.equal([]);
  });

  it('of what is bundled into the pages and the command ship with them', async () => {
    for (const [folder, names] of [
      ['lib/inspector/page', ['preact', '@preact/signals', '@dagrejs/dagre']],
      ['lib/console/page', ['preact', '@preact/signals', 'marked', 'openapi-fetch']],
      ['command', ['koa', 'zod', 'ws', 'superjson']],
    ] as const) {
      const notices = await readFile(join(root, `dist/${folder}/notices.txt`), 'utf8');
      for (const name of names) expect(notices, folder).to.match(new RegExp(`^${name} \\d`, 'm'));
      expect(notices).to.include('Permission is hereby granted');
    }
  });
});
