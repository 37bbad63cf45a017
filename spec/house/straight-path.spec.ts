import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './sources.js';
import { inAll, journeys, measurePaths, onlyForwards, type Journey, type Path } from './straight-path.js';

/** A request that wanders through more and more files is how a house becomes a maze: the way is measured. */
describe('the way of one request', () => {
  const most = JSON.parse(readFileSync(join(root, 'spec/house/straight-path.json'), 'utf8')) as Record<
    Journey,
    { files: number; functions: number; forwarders: number }
  >;
  let paths: Record<Journey, Path>;
  before(async () => {
    paths = await measurePaths();
  });

  for (const journey of journeys) {
    it(`is no longer than it was: ${journey}`, () => {
      const { files, functions, forwarders } = paths[journey];
      expect(files.length, files.join('\n')).to.be.within(5, most[journey].files);
      expect(functions).to.be.at.most(most[journey].functions);
      expect(forwarders.length, forwarders.join('\n')).to.be.at.most(most[journey].forwarders);
    });
  }

  // Counted by its smallest run, the way of a session was too long on a busy machine once, and not when run again
  it('leaves out what a timer or a late write entered in some runs', () => {
    const path = (...files: string[]): Path => ({
      files,
      entered: files,
      functions: files.length,
      forwarders: files,
    });
    const ways = [path('a.ts', 'bell.ts', 'b.ts'), path('a.ts', 'b.ts', 'late.ts')];
    expect(inAll(ways)).to.deep.equal(path('a.ts', 'b.ts'));
    expect(inAll([]).files).to.deep.equal([]);
  });

  it('counts as a forwarder what only passes its parameters on', () => {
    expect(onlyForwards('get(kind, id) {\n  return this.queries.get(kind, id);\n}')).to.equal(true);
    expect(onlyForwards('(ms, callback) => world.timeout(ms, callback)')).to.equal(true);
    expect(onlyForwards('get(kind, id) {\n  return this.queries.get(kind, `${id}`);\n}')).to.equal(false);
    expect(onlyForwards('() => now()')).to.equal(false);
  });
});
