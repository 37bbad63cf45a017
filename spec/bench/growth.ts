import { openLevelStore } from '../../lib/store/level.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { counters, mustHold } from './actors.js';
import { inFlight, median, timed, withHome, type Figure, type Measure } from './measure.js';

/** What one more child, or one more timer, costs beside 100,000 others, against beside 100. */
const few = 100;
const perSlice = 512; // few enough that the small side stays small
const slices = 6;
const parent = { kind: 'counter', id: 'parent' };

export const growth: Measure = {
  name: 'growth',
  about: 'one more child, one more timer',
  async run({ rounds, size = 100_000 }) {
    return [
      ...(await compare('child', withChildren, rounds, size)),
      ...(await compare('timer', withTimers, rounds, size)),
    ];
  },
};

/** Adds one: a child of the parent, or an actor whose timer is far away. */
type More = (supervisor: Supervisor, id: string) => Promise<unknown>;

const withChildren: More = (supervisor, id) => supervisor.spawn('counter', { id, parent });
const withTimers: More = (supervisor, id) =>
  supervisor.transact({
    name: 'wait',
    actors: [],
    run: (turns) => {
      turns.create('counter', id);
      turns.send({ kind: 'counter', id }, { type: 'wait', ms: 3_600_000 });
      return null;
    },
  });

async function compare(what: string, more: More, rounds: number, many: number): Promise<Figure[]> {
  const ratios: number[] = [];
  const atMany: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await withHome((small) =>
      withHome(async (large) => {
        const pair = [await prepared(small, more, few), await prepared(large, more, many)] as const;
        let n = 0;
        const cost = (supervisor: Supervisor): Promise<number> =>
          timed(() => inFlight(64, perSlice, async () => mustHold(await more(supervisor, `more${n++}`))));
        for (const supervisor of pair) await cost(supervisor);
        for (let slice = 0; slice < slices; slice += 1) {
          const ofFew = await cost(pair[0]);
          const ofMany = await cost(pair[1]);
          ratios.push(ofMany / ofFew);
          atMany.push((ofMany / perSlice) * 1000);
        }
        for (const supervisor of pair) await supervisor.stop();
      }),
    );
  }
  return [
    {
      name: `one more ${what} at ${many.toLocaleString('en')} ÷ at ${few}`,
      value: median(ratios),
      unit: 'ratio',
      target: { atMost: 1.5 },
    },
    {
      name: `one more ${what} at ${many.toLocaleString('en')}`,
      value: median(atMany),
      unit: 'µs',
      note: '64 in flight',
    },
  ];
}

async function prepared(home: string, more: More, count: number): Promise<Supervisor> {
  const supervisor = await createSupervisor({
    kinds: [counters.kind],
    store: await openLevelStore({ directory: home }),
  });
  mustHold(await supervisor.spawn('counter', { id: parent.id }));
  let n = 0;
  await inFlight(256, count, async () => mustHold(await more(supervisor, `c${n++}`)));
  return supervisor;
}
