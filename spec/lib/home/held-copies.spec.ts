import { expect } from 'chai';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { defaultConfig } from '../../../lib/home/config.js';
import { heldCopies } from '../../../lib/home/held-copies.js';
import { layoutOf } from '../../../lib/home/layout.js';

describe('what still holds what was erased', () => {
  // A distrusted store and the one of before a migration were not named, by `erase` as little as by `doctor`
  it('is every store that was set aside in the home', async () => {
    const home = await mkdtemp(join(tmpdir(), 'held-copies-'));
    const aside = [
      'before-migration',
      'migration-undone',
      'store-copy.damaged-2026-01-01T00-00-00-000Z',
      'store-copy.moved',
      'store.damaged-2026-01-01T00-00-00-000Z',
      'store.distrusted',
      'store.moved',
    ];
    for (const name of [...aside, 'store', 'store-copy', 'work']) await mkdir(join(home, name));
    const held = await heldCopies(layoutOf({ home }), defaultConfig().backup);
    expect(held.map(({ path }) => basename(path)).sort()).to.deep.equal(aside.sort());
    await rm(home, { recursive: true });
  });
});
