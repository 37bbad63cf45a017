import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Group, Op } from '../../../lib/store/contract.js';
import { openLevelStore } from '../../../lib/store/level.js';
import { groupAfter } from '../../../lib/testing/store-contract.js';

/** The group at a position: always the same, so that the one who knows the head knows every row. */
export function groupFor(seq: number, chain: string): Group {
  const rows = Array.from({ length: 1 + (seq % 9) }, (_, i): Op => [
    `a/x/${(seq * 13 + i * 5) % 97}`,
    (seq + i) % 7 === 0 ? null : JSON.stringify({ seq, i, text: 'x'.repeat((seq * 17) % 900) }),
  ]);
  return groupAfter({ seq: seq - 1, chain }, 1, rows);
}

/**
 * As a program: write for ever, several groups under way, and say each position once it is acknowledged. With
 * `threaded` all that may be done by the thread of the store is.
 */
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const store = await openLevelStore({
    directory: process.argv[2]!,
    segmentBytesMax: 40_000,
    reserveBytes: 16_384,
    scrubEveryMs: 1,
    thread: process.argv[3] === 'threaded' ? { busyBytes: -1 } : false,
    limits: { checkpointBytes: 30_000, checkpointSteps: 60, baseBytesMin: 100_000 },
  });
  let { seq, chain } = store.head;
  const loop = async (): Promise<void> => {
    for (;;) {
      seq += 1;
      const group = groupFor(seq, chain);
      chain = group.chain;
      await store.write(group);
      writeSync(1, `${group.last}\n`);
    }
  };
  await Promise.all([loop(), loop(), loop()]);
}
