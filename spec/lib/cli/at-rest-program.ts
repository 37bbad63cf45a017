import { setTimeout as wait } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { collectAtRest } from '../../../lib/cli/at-rest.js';

/**
 * A process with a burst of garbage behind it. `rests`: does nothing then, and prints how much its heap held before
 * and after what was collected at rest. `works`: is busy half of the time, and prints how often it collected.
 */
const held = (): number => getHeapStatistics().total_heap_size;
let kept: object[] = [];
for (let n = 0; n < 400_000; n += 1) kept.push({ n, text: `item ${n}` });
kept = kept.slice(0, 10);

if (process.argv[2] === 'rests') {
  const before = held();
  const alive = setInterval(() => undefined, 1_000); // which the checks do not
  await new Promise<void>((collected) => collectAtRest({ everyMs: 20, pauseMs: 0, collected }));
  clearInterval(alive);
  console.log(JSON.stringify({ before, after: held(), kept: kept.length }));
} else {
  let times = 0;
  const rest = collectAtRest({ everyMs: 50, pauseMs: 0, collected: () => (times += 1) });
  for (let turn = 0; turn < 40; turn += 1) {
    const until = performance.now() + 10;
    while (performance.now() < until);
    await wait(10);
  }
  rest.close();
  console.log(JSON.stringify({ times, kept: kept.length }));
}
