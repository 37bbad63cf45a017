import { expect } from 'chai';
import { join } from 'node:path';
import { attachmentPath } from '../../lib/ports.js';
import { layoutOf } from '../../lib/home/layout.js';
import type { EffectContext } from '../../actors/contracts.js';

describe('the place of an attachment, as agents learn it', () => {
  const layout = layoutOf({ home: '/h' });
  const placeOf = (value: string, path: string): Promise<string | undefined> =>
    attachmentPath(layout)('f1', {
      supervisor: { get: () => Promise.resolve({ value, view: { path } }) },
    } as unknown as EffectContext);

  it('is where its bytes lie', async () => {
    expect(await placeOf('stored', 'files/f1/a.txt')).to.equal(join(layout.home, 'files/f1/a.txt'));
  });

  // a removed file has an empty path: joined to the home it is the home, which the cage would then open
  it('is nowhere once it was removed', async () => {
    expect(await placeOf('removed', '')).to.equal(undefined);
    expect(await placeOf('removed', 'files/f1/a.txt')).to.equal(undefined);
  });
});
