import { readFileSync, writeFileSync } from 'node:fs';
import { openLevelStore } from '../../../lib/store/level.js';
import { verifyStore } from '../../../lib/store/verify.js';
import { groupFor } from './killed-writer.js';
import { audit, type Model } from './model.js';

/**
 * As a program: `node flipped-worker.js <home> <file with the last acknowledged position>` opens a home in which a bit was
 * flipped, works in it, scrubs, closes and verifies. Ends with 0 where every row of every acknowledged group is there and
 * verify finds nothing wrong. It may be ended by LevelDB at any moment: what a row must be follows from the position.
 */
const [, , home, noted] = process.argv as [string, string, string, string];
const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
for (let part = 0; part < 3; part += 1) {
  for (let n = 0; n < 30; n += 1) {
    await store.write(groupFor(store.head.seq + 1, store.head.chain));
    writeFileSync(noted, `${store.head.seq}`);
  }
  await store.checkpoint();
}
await store.scrub();
if (store.head.seq < Number(readFileSync(noted, 'utf8'))) throw new Error('acknowledged groups are gone');
const model: Model = new Map();
let chain = '';
for (let seq = 1; seq <= store.head.seq; seq += 1) {
  const group = groupFor(seq, chain);
  chain = group.chain;
  for (const [key, value] of group.ops) {
    if (value === null) model.delete(key);
    else model.set(key, value);
  }
}
if (chain !== store.head.chain) throw new Error('the history is another one');
await audit(store, model);
await store.compact();
await audit(store, model);
await store.close();
const { faults } = await verifyStore(home);
if (faults.length > 0) throw new Error(faults.join('; '));
