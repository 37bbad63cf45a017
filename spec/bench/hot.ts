import type { Group } from '../../lib/store/contract.js';
import { openLevelStore } from '../../lib/store/level.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import {
  counters,
  mustHold,
  openBare,
  populate,
  recording,
  replay,
  workItems,
  type Subject,
} from './actors.js';
import { median, timed, withHome, type Figure, type Measure } from './measure.js';

/**
 * One hot actor, one event after another, against the same bytes put and synced one after another: into bare
 * LevelDB, and through the store that the kernel uses. With one in flight the machine itself swings, so all
 * sides take turns in short slices and each slice is compared with its neighbours.
 */
const slices = 16;
const perSlice = 150;

export const hot: Measure = {
  name: 'hot',
  about: 'one hot actor, serial',
  async run({ rounds }) {
    return [
      ...(await compare('work-item', workItems, rounds)),
      ...(await compare('counter', counters, rounds)),
    ];
  },
};

async function compare(name: string, subject: Subject, rounds: number): Promise<Figure[]> {
  const ratios: number[] = [];
  const throughStore: number[] = [];
  const rates: number[] = [];
  const serial: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await withHome((home) =>
      withHome(async (other) => {
        const groups: Group[] = [];
        const supervisor = await createSupervisor({
          kinds: [subject.kind],
          store: recording(await openLevelStore({ directory: home }), groups),
        });
        const store = await openLevelStore({ directory: other });
        const level = await openBare(other);
        await populate(supervisor, subject, 1);
        let turn = 0;
        const slice = async (): Promise<void> => {
          for (const end = turn + perSlice; turn < end; turn += 1)
            mustHold(await supervisor.ask(subject.kind.kind, 'a0', subject.event(turn)));
        };
        await slice();
        await replay(store, groups.splice(0), 1);
        for (let n = 0; n < slices; n += 1) {
          const own = await timed(slice);
          const written = groups.splice(0);
          const raw = await timed(() => replay(level, written, 1));
          const stored = await timed(() => replay(store, written, 1));
          ratios.push(raw / own);
          throughStore.push(stored / own);
          rates.push((perSlice / own) * 1000);
          serial.push((perSlice / raw) * 1000);
        }
        await supervisor.stop();
        await store.close();
        await level.close();
      }),
    );
  }
  return [
    {
      name: `${name}: ÷ serial synced puts of the same bytes`,
      value: median(ratios),
      unit: 'ratio',
      target: { atLeast: 0.7 },
    },
    {
      name: `${name}: ÷ the same through the store`,
      value: median(throughStore),
      unit: 'ratio',
      note: 'what deciding costs',
    },
    { name: `${name}: events`, value: median(rates), unit: '/s' },
    { name: `${name}: serial synced puts`, value: median(serial), unit: '/s' },
  ];
}
