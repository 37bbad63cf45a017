import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allPlanted } from './all.js';
import { root } from '../../house/sources.js';
import { folders } from './planted.js';

/** A planted fault that no longer fits its code would prove nothing. */
describe('planted faults', () => {
  const sources: string[] = [];

  before(async () => {
    for (const folder of folders) {
      const path = fileURLToPath(new URL(`../../../${folder}/`, import.meta.url));
      for (const name of await readdir(path, { recursive: true }))
        // dist may still hold what a deleted source left behind
        if (name.endsWith('.js') && existsSync(`${root}${folder}/${name.replace(/\.js$/, '.ts')}`))
          sources.push(await readFile(join(path, name), 'utf8'));
    }
  });

  it('are at least 25, each with a name of its own', () => {
    expect(allPlanted.length).to.be.at.least(25);
    expect(new Set(allPlanted.map(({ name }) => name)).size).to.equal(allPlanted.length);
  });

  for (const { name, edits } of allPlanted)
    it(`still fit the code, each in one place: ${name}`, () => {
      for (const { from } of edits) {
        const places = sources.reduce((sum, source) => sum + source.split(from).length - 1, 0);
        expect(places, from).to.equal(1);
      }
    });
});
