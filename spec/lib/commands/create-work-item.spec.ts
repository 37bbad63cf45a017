import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorkItem } from '../../../lib/commands/create-work-item.js';
import { openLevelStore } from '../../../lib/store/level.js';
import { operator } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import { openDesk, type DeskHouse } from './desk-fixture.js';

const mint = async ({ desk }: DeskHouse, title = 'x'): Promise<string> => {
  const done = await createWorkItem(desk, { title }, { by: operator });
  if (isRefusal(done)) throw new Error(done.message);
  return done.value.id;
};

describe('createWorkItem', () => {
  it('numbers in the order of creation, under parallel callers too', async () => {
    const house = await openDesk();
    const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => mint(house, `n${n}`)));
    expect(ids).to.deep.equal(Array.from({ length: 50 }, (_, n) => `TRP-${n + 1}`));
    await house.close();
  });

  for (const [settings, prefix] of [
    [{ companyPrefix: 'qx7y z' }, 'QXY'], [{ companyName: 'Acme Works' }, 'ACM'], [{ companyPrefix: 'Q', companyName: 'Acme' }, 'ACM'], [{ companyName: '株式会社' }, 'TRP'],
  ] as const) {
    it(`takes ${prefix} from ${JSON.stringify(settings)}`, async () => {
      const house = await openDesk({ settings });
      expect(await mint(house)).to.equal(`${prefix}-1`);
      await house.close();
    });
  }

  it('keeps prefix and count when the company is renamed and the process starts anew', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'prefix-'));
    try {
      const first = await openDesk({ store: await openLevelStore({ directory }), settings: { companyName: 'Acme' } });
      await mint(first);
      await first.close();
      const second = await openDesk({ store: await openLevelStore({ directory }), settings: { companyName: 'Zenith' } });
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
      const first = await openDesk({ store: await openLevelStore({ directory }) });
      const one = await createWorkItem(first.desk, { title: 'x' }, { by: operator, idempotency });
      await first.close();
      const second = await openDesk({ store: await openLevelStore({ directory }) });
      const again = await createWorkItem(second.desk, { title: 'x' }, { by: operator, idempotency });
      if (isRefusal(one) || isRefusal(again)) throw new Error('refused');
      expect([again.value.id, again.replayed]).to.deep.equal([one.value.id, true]);
      await second.close();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
