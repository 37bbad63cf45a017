import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import '../helpers/command.js';
import { own } from '../helpers/locked.js';

/**
 * Packages through which outsiders were let in elsewhere, and the first version in which the hole is closed
 * (ASVS
 * 15.2.1). What is installed is asked, not what package.json wishes.
 */
const floors: readonly (readonly [
  name: string,
  through: string | undefined,
  atLeast: string,
  why: string,
])[] = [
  ['koa', undefined, '3.1.2', 'CVE-2026-27959: ctx.hostname of evil.com:x@host'],
  ['ws', undefined, '8.21.1', 'CVE-2026-48779, CVE-2026-62389: fragments without end'],
  ['formidable', 'koa-body', '3.5.3', 'CVE-2025-46653: names of uploads that can be guessed'],
  ['superjson', undefined, '1.8.1', 'CVE-2022-23631: prototype pollution that runs code'],
  ['@modelcontextprotocol/sdk', undefined, '1.24.0', 'CVE-2025-66414: no check of the Host'],
];

describe('red team: packages with a past', () => {
  for (const [name, through, atLeast, why] of floors) {
    it(`${name} is ${atLeast} or newer (${why})`, async () => {
      const installed = await versionOf(name, through);
      expect(compare(installed, atLeast), `${name} ${installed}`).to.be.at.least(0);
    });
  }

  it('compares versions as numbers (or the lines above would prove nothing)', () => {
    expect(
      [compare('3.10.0', '3.9.9'), compare('3.1.1', '3.1.2'), compare('8.21.1', '8.21.1')].map(Math.sign),
    ).to.deep.equal([1, -1, 0]);
  });

  it('no package reads YAML or frontmatter but the one that is safe, and none evaluates text', async () => {
    const inside = await readFile(new URL('../../command/notices.txt', import.meta.url), 'utf8');
    const bundled = [...inside.matchAll(/^(\S+) \d+\.\d+\.\d\S*\n\n/gm)].map(([, name]) => name);
    expect(bundled).to.include.members(['yaml', 'koa', 'formidable']);
    const names = [...Object.keys(own.dependencies ?? {}), ...bundled];
    for (const name of [
      'gray-matter',
      'js-yaml',
      'front-matter',
      'multiparty',
      'busboy',
      'vm2',
      'serialize-javascript',
      'node-serialize',
      'ejs',
      'lodash',
    ])
      expect(names).not.to.include(name);
  });
});

async function versionOf(name: string, through: string | undefined): Promise<string> {
  const from = createRequire(import.meta.url);
  const require = through === undefined ? from : createRequire(from.resolve(through));
  for (const folder of require.resolve.paths(name) ?? []) {
    const text = await readFile(join(folder, name, 'package.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) return (JSON.parse(text) as { version: string }).version;
  }
  throw new Error(`${name} is not installed`);
}

function compare(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('-')[0]?.split('.').map(Number) ?? []);
  const place = [0, 1, 2].find((at) => (left?.[at] ?? 0) !== (right?.[at] ?? 0));
  return place === undefined ? 0 : (left?.[place] ?? 0) - (right?.[place] ?? 0);
}
