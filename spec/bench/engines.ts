import { leftBehind } from '../helpers/left-behind.js';
import { openRogues } from '../helpers/rogue-house.js';
import { rogues } from '../helpers/rogues.js';
import { collectGarbage, type Figure, type Measure } from './measure.js';

/** What engines that go wrong cost the gateway: each plays one turn, a gigabyte where it floods. */
export const engines: Measure = {
  name: 'engines',
  about: 'agent programs that hang, flood, fork, break off',
  async run() {
    const deadlineMs = 10_000;
    const house = await openRogues({ deadlineMs });
    const figures: Figure[] = [];
    try {
      for (const rogue of rogues) {
        collectGarbage();
        const before = process.memoryUsage.rss();
        let peak = before;
        const looking = setInterval(() => {
          peak = Math.max(peak, process.memoryUsage.rss());
        }, 5);
        const { id, status, lastError, ms } = await house.play(rogue).finally(() => clearInterval(looking));
        const left = await leftBehind(id);
        const name = `${rogue.engine}, ${rogue.way}`;
        const isTold = status === 'error' && rogue.reason.test(lastError) && left.length === 0;
        figures.push(
          {
            name: `${name}: error, reason, nothing left`,
            value: isTold ? 1 : 0,
            unit: '',
            target: { atLeast: 1 },
            note: lastError.slice(0, 60).replaceAll('\n', ' '),
          },
          {
            name: `${name}: until then`,
            value: ms / 1000,
            unit: 's',
            target: { atMost: deadlineMs / 1000 + 10 },
          },
          {
            name: `${name}: growth of the gateway`,
            value: (peak - before) / 2 ** 20,
            unit: 'MB',
            target: { atMost: 50 },
          },
        );
      }
    } finally {
      await house.close();
    }
    return figures;
  },
};
