import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorkItem } from '../../../../lib/commands/work-items/create-work-item.js';
import { openLevelStore } from '../../../../lib/store/level.js';
import { operator } from '../../../../machines/caller.js';
import { isRefusal } from '../../../../machines/refusals.js';
import { openApp, type AppFixture } from '../app-fixture.js';

const mint = async ({ app }: AppFixture, title = 'x'): Promise<string> => {
  const done = await createWorkItem({ app, caller: operator }, { title });
  if (isRefusal(done)) throw new Error(done.message);
  return done.body.id;
};

describe('createWorkItem', () => {
  it('numbers in the order of creation, under parallel callers too', async () => {
    const house = await openApp();
    const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => mint(house, `n${n}`)));
    expect(ids).to.deep.equal(Array.from({ length: 50 }, (_, n) => `TRP-${n + 1}`));
    await house.close();
  });

  for (const [settings, prefix] of [
    [{ companyPrefix: 'qx7y z' }, 'QXY'],
    [{ companyName: 'Acme Works' }, 'ACM'],
    [{ companyPrefix: 'Q', companyName: 'Acme' }, 'ACM'],
    [{ companyName: '株式会社' }, 'TRP'],
  ] as const) {
    it(`takes ${prefix} from ${JSON.stringify(settings)}`, async () => {
      const house = await openApp({ settings });
      expect(await mint(house)).to.equal(`${prefix}-1`);
      await house.close();
    });
  }

  it('keeps prefix and count when the company is renamed and the process starts again', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'prefix-'));
    try {
      const first = await openApp({
        store: await openLevelStore({ directory }),
        settings: { companyName: 'Acme' },
      });
      await mint(first);
      await first.close();
      const second = await openApp({
        store: await openLevelStore({ directory }),
        settings: { companyName: 'Zenith' },
      });
      expect(await mint(second)).to.equal('ACM-2');
      await second.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('remembers a key across a restart', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keys-'));
    const idempotency = { key: 'k', scope: 'operator', hash: 'h' };
    try {
      const first = await openApp({ store: await openLevelStore({ directory }) });
      const one = await createWorkItem({ app: first.app, caller: operator, idempotency }, { title: 'x' });
      await first.close();
      const second = await openApp({ store: await openLevelStore({ directory }) });
      const again = await createWorkItem({ app: second.app, caller: operator, idempotency }, { title: 'x' });
      if (isRefusal(one) || isRefusal(again)) throw new Error('refused');
      expect([again.body.id, again.replayed]).to.deep.equal([one.body.id, true]);
      await second.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
