import { expect } from 'chai';
import fc from 'fast-check';
import { worlds } from './worlds.js';

/**
 * Whatever happens, in whatever order: what must hold holds, the snapshot is small plain JSON, and a restored
 * actor is the same actor.
 */
describe('random lives', () => {
  for (const world of worlds) {
    const names = Object.keys(world.deeds);
    it(`of ${world.name} keep what must hold, and are the same after a restore`, () => {
      fc.assert(
        fc.property(fc.array(fc.constantFrom(...names), { maxLength: 60 }), (deeds) => {
          const life = world.fresh();
          for (const deed of deeds) {
            const twin = life.fork();
            twin.revive();
            for (const one of [life, twin]) world.deeds[deed]?.(one);
            world.holds(life);
            expect(life.json.length).to.be.below(64 * 1024);
            expect(JSON.parse(twin.json)).to.deep.equal(JSON.parse(life.json));
            expect(twin.wishes).to.deep.equal(life.wishes);
          }
        }),
        { numRuns: 150 },
      );
    });
  }
});
