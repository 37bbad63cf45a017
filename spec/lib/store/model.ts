import { expect } from 'chai';
import { createHash } from 'node:crypto';
import type { Op, Store } from '../../../lib/store/contract.js';
import { groupAfter } from '../../../lib/testing/store-contract.js';

/** What was acknowledged: every row the store must still have. */
export type Model = Map<string, string>;

/** Write groups of rows that come, change and go, and note in `model` what was acknowledged. */
export async function fill(store: Store, model: Model, groups: number, rowsPerGroup = 20): Promise<void> {
  for (let n = 0; n < groups; n += 1) {
    const seq = store.head.seq;
    const ops: Op[] = Array.from({ length: rowsPerGroup }, (_, i): Op => {
      const key = `a/item/${String((seq * 31 + i * 7) % 400).padStart(4, '0')}`;
      return [
        key,
        (seq + i) % 11 === 0
          ? null
          : JSON.stringify({
              seq,
              i,
              text: `größer ${'x'.repeat((seq * i) % 300)}`,
              random: randomOf(key, seq),
            }),
      ];
    });
    const group = groupAfter(store.head, 1 + (n % 3), ops);
    await store.write(group);
    for (const [key, value] of group.ops) {
      if (value === null) model.delete(key);
      else model.set(key, value);
    }
  }
}

/** Text that no compression takes apart, so that a spec finds it in a table. */
function randomOf(key: string, seq: number): string {
  return createHash('sha256').update(`${key} ${seq}`).digest('base64');
}

/** Everything in the store, read by pages and one by one, is exactly what was acknowledged. */
export async function audit(store: Store, model: Model): Promise<void> {
  const seen: Model = new Map();
  for (let page = await store.page({}); page.length > 0; page = await store.page({ gt: page.at(-1)![0] }))
    for (const [key, value] of page) seen.set(key, value);
  expect([...seen.keys()]).to.deep.equal([...model.keys()].sort());
  for (const [key, value] of model) {
    if (seen.get(key) !== value)
      expect.fail(`the row ${key} is ${seen.get(key)?.slice(0, 80)} instead of ${value.slice(0, 80)}`);
    if ((await store.get(key)) !== value) expect.fail(`the row ${key} reads differently alone`);
  }
}
