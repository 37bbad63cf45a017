import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openLevelStore } from '../../../lib/store/level.js';
import { audit, newHome, type Model } from './homes.js';
import { groupFor } from './killed-writer.js';

const writer = fileURLToPath(new URL('./killed-writer.js', import.meta.url));

describe('kill -9 of a writing process', () => {
  it('loses no acknowledged group and leaves no half of one, round after round', async () => {
    const home = await newHome();
    const model: Model = new Map();
    let modelled = 0;
    for (let round = 0; round < 16; round += 1) {
      // Odd numbers of acknowledgements, so that the kill comes at ever other moments of the work beside the
      // writes.
      const acknowledged = await writeUntilKilled(
        home,
        20 + round * 37,
        round % 2 === 1 ? 'threaded' : 'alone',
      );
      const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
      expect(store.head.seq).to.be.at.least(acknowledged);
      while (modelled < store.head.seq) {
        modelled += 1;
        for (const [key, value] of groupFor(modelled, '').ops) {
          if (key.startsWith('l/')) continue;
          if (value === null) model.delete(key);
          else model.set(key, value);
        }
      }
      const rows = new Map(model);
      for (
        let page = await store.page({ gte: 'l/', lt: 'l0' });
        page.length > 0;
        page = await store.page({ gt: page.at(-1)![0], lt: 'l0' })
      )
        for (const [key, value] of page) rows.set(key, value);
      expect(rows.size - model.size).to.equal(store.head.seq);
      await audit(store, rows);
      expect((await store.verify()).faults).to.deep.equal([]);
      await store.close();
    }
  });
});

/** Answers the last position that the process had acknowledged when it was killed. */
async function writeUntilKilled(
  home: string,
  acknowledgements: number,
  how: 'threaded' | 'alone',
): Promise<number> {
  const child = spawn(process.execPath, [writer, home, how], { stdio: ['ignore', 'pipe', 'inherit'] });
  let last = 0;
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    seen += 1;
    if (seen === acknowledgements) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).to.equal('SIGKILL');
  return last;
}
