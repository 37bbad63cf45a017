import { openLevelStore } from '../../lib/store/level.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { mustHold, populate, workItems } from './actors.js';
import { median, timed, withHome, type Measure } from './measure.js';

/**
 * An event for an actor at rest (read, restored, stepped, committed) against one for an actor that is awake,
 * one after another. The address book is small, so every actor of the large set has been forgotten before its
 * turn comes again. The cache of the operating system cannot be emptied from here: the read is LevelDB's, not
 * the platter's.
 */
const awake = 64;
const perSlice = 400;
const slices = 8;

export const cold: Measure = {
  name: 'cold',
  about: 'cold wake against warm event, serial',
  async run({ rounds, size = 20_000 }) {
    const ratios: number[] = [];
    const warmMs: number[] = [];
    const coldMs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await withHome(async (home) => {
        const filling = await createSupervisor({
          kinds: [workItems.kind],
          store: await openLevelStore({ directory: home }),
        });
        await populate(filling, workItems, size);
        await filling.stop();
        const supervisor = await createSupervisor({
          kinds: [workItems.kind],
          store: await openLevelStore({ directory: home }),
          limits: { awakeActorsMax: awake },
        });
        const turns = new Map<string, number>();
        const drive = async (idOf: (n: number) => string): Promise<void> => {
          for (let n = 0; n < perSlice; n += 1) {
            const id = idOf(n);
            const turn = turns.get(id) ?? 0;
            turns.set(id, turn + 1);
            mustHold(await supervisor.ask('work-item', id, workItems.event(turn)));
          }
        };
        let next = 0;
        const warm = (n: number): string => `a${n % 16}`;
        const sleeping = (): string => `a${100 + ((next++ * 7919) % (size - 100))}`;
        await drive(sleeping);
        for (let slice = 0; slice < slices; slice += 1) {
          for (let n = 0; n < 16; n += 1) await supervisor.handle('work-item', `a${n}`).wake();
          const ofWarm = await timed(() => drive(warm));
          const ofCold = await timed(() => drive(sleeping));
          warmMs.push(ofWarm / perSlice);
          coldMs.push(ofCold / perSlice);
          ratios.push(ofCold / ofWarm);
        }
        await supervisor.stop();
      });
    }
    return [
      {
        name: `cold ÷ warm (of ${size.toLocaleString('en')} work items)`,
        value: median(ratios),
        unit: 'ratio',
        target: { atMost: 3 },
        note: 'warm in the cache of the system',
      },
      { name: 'warm event', value: median(warmMs), unit: 'ms' },
      { name: 'cold event', value: median(coldMs), unit: 'ms' },
    ];
  },
};
