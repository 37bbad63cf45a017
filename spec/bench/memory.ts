import { openLevelStore } from '../../lib/store/level.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { populate, workItems } from './actors.js';
import { median, settledHeap, withHome, type Measure } from './measure.js';

/**
 * Heap that one awake, idle work item with a body of 100 bytes keeps: the difference before and after,
 * garbage collected.
 */
export const memory: Measure = {
  name: 'memory',
  about: 'heap per awake idle work item',
  async run({ rounds, size = 50_000 }) {
    if (!('gc' in globalThis)) throw new Error('memory needs node --expose-gc');
    const each: number[] = [];
    for (let round = 0; round < rounds; round += 1) each.push(await bytesEach(size));
    return [
      {
        name: `heap per awake work item (${size.toLocaleString('en')} of them)`,
        value: median(each),
        unit: 'B',
        target: { atMost: 1536 },
      },
    ];
  },
};

async function bytesEach(count: number): Promise<number> {
  return withHome(async (home) => {
    const supervisor = await createSupervisor({
      kinds: [workItems.kind],
      store: await openLevelStore({ directory: home }),
      limits: { awakeActorsMax: count * 2 },
    });
    await populate(supervisor, workItems, 512);
    const before = await settledHeap();
    await populate(supervisor, workItems, count, 512);
    const after = await settledHeap();
    if (supervisor.status.awake < count)
      throw new Error(`only ${supervisor.status.awake} of ${count} are awake`);
    await supervisor.stop();
    return (after - before) / count;
  });
}
