import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { allPlanted } from './all.js';
import { edited } from './hook.js';

/** A planted fault that no longer fits its code would prove nothing. */
describe('planted faults', () => {
  it('are at least 25, each with a name of its own', () => {
    expect(allPlanted.length).to.be.at.least(25);
    expect(new Set(allPlanted.map(({ name }) => name)).size).to.equal(allPlanted.length);
  });

  for (const { name, edits } of allPlanted)
    it(`still fit the code: ${name}`, async () => {
      for (const edit of edits) {
        const source = await readFile(new URL(`../../../${edit.file}`, import.meta.url), 'utf8');
        expect(edited(source, edit)).to.not.equal(source);
      }
    });
});
