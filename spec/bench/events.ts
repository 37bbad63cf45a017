import type { Group, Op } from '../../lib/store/contract.js';
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
import {
  deviceBytes,
  inFlight,
  mainThreadMs,
  median,
  percentile,
  timed,
  withHome,
  type Figure,
  type Measure,
} from './measure.js';

/**
 * Durable events per second over 1,024 actors with 64 in flight, against ways of writing without deciding:
 * the very groups that the kernel wrote and puts of 500 bytes, each into bare LevelDB (raw group commit: one
 * synced batch per group, no checksums, no second copy) and through the store that the kernel uses.
 */
const actors = 1024;
const lanes = 64;
const perActor = 64;
const total = actors * perActor;
const groupsInFlight = 2; // as the committer has

export const events: Measure = {
  name: 'events',
  about: `durable events over ${actors} actors, ${lanes} in flight`,
  async run({ rounds }) {
    return [
      ...(await compare('work-item', workItems, rounds)),
      ...(await compare('counter', counters, rounds)),
    ];
  },
};

async function compare(name: string, subject: Subject, rounds: number): Promise<Figure[]> {
  const recorded = await record(subject);
  const steps: Stepped[] = [];
  const raw: number[] = [];
  const same: number[] = [];
  const puts: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    steps.push(await step(subject));
    raw.push(await rewriteBare(recorded));
    same.push(await rewrite(recorded));
    puts.push(await put500());
    bare.push(await putBare());
  }
  const over = (others: readonly number[]): number =>
    median(steps.map(({ rate }, round) => rate / (others[round] as number)));
  const bytes = recorded.groups.reduce(
    (sum, { ops }) => sum + ops.reduce((all, [key, value]) => all + key.length + (value?.length ?? 0), 0),
    0,
  );
  const ops = recorded.groups.reduce((sum, group) => sum + group.ops.length, 0);
  return [
    {
      name: `${name}: ÷ the same rows and bytes, raw group commit`,
      value: over(raw),
      unit: 'ratio',
      target: { atLeast: 0.6 },
    },
    {
      name: `${name}: ÷ the same rows and bytes through the store`,
      value: over(same),
      unit: 'ratio',
      note: 'what deciding costs',
    },
    {
      name: `${name}: ÷ puts of 500 B, raw group commit`,
      value: over(bare),
      unit: 'ratio',
      target: { atLeast: 0.2 },
      note: 'stretch 0.3',
    },
    { name: `${name}: ÷ puts of 500 B through the store`, value: over(puts), unit: 'ratio' },
    {
      name: `${name}: durable events`,
      value: median(steps.map(({ rate }) => rate)),
      unit: '/s',
      note: `${Math.round(bytes / total)} B in ${(ops / total).toFixed(1)} rows per event, ${(total / recorded.groups.length).toFixed(0)} events per group`,
    },
    { name: `${name}: durable events, p99`, value: median(steps.map(({ p99 }) => p99)), unit: 'ms' },
    {
      name: `${name}: main thread per event`,
      value: median(steps.map(({ microseconds }) => microseconds)),
      unit: 'µs',
    },
    {
      name: `${name}: bytes on the device per byte of rows`,
      value: median(steps.map(({ written }) => written)) / (bytes / total),
      unit: 'ratio',
      note: 'of the whole machine: only where nothing else writes',
    },
    { name: `${name}: the same rows and bytes, raw group commit`, value: median(raw), unit: 'events/s' },
    { name: `${name}: the same rows and bytes through the store`, value: median(same), unit: 'events/s' },
    { name: `${name}: puts of 500 B through the store`, value: median(puts), unit: '/s' },
    {
      name: `${name}: puts of 500 B, raw group commit`,
      value: median(bare),
      unit: '/s',
      note: 'where this is 45,000, events should be above 17,000',
    },
  ];
}

interface Recorded {
  readonly before: readonly Group[];
  readonly groups: readonly Group[];
}

/** A run whose groups are kept. It is not timed: keeping them costs. */
async function record(subject: Subject): Promise<Recorded> {
  return withHome(async (home) => {
    const groups: Group[] = [];
    const supervisor = await createSupervisor({
      kinds: [subject.kind],
      store: recording(await openLevelStore({ directory: home }), groups),
    });
    await populate(supervisor, subject, actors);
    const before = groups.splice(0);
    await drive(supervisor, subject);
    const written = groups.splice(0);
    await supervisor.stop();
    return { before, groups: written };
  });
}

interface Stepped {
  /** Events per second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p99: number;
  /** Of the main thread, per event. */
  readonly microseconds: number;
  /** Bytes on the device, per event. */
  readonly written: number;
}

async function step(subject: Subject): Promise<Stepped> {
  return withHome(async (home) => {
    const supervisor = await createSupervisor({
      kinds: [subject.kind],
      store: await openLevelStore({ directory: home }),
    });
    await populate(supervisor, subject, actors);
    await drive(supervisor, subject, total / 8); // code is compiled, the young generation has grown
    const [busyBefore, writtenBefore] = [mainThreadMs(), deviceBytes(home)];
    const latenciesMs: number[] = [];
    const ms = await timed(() => drive(supervisor, subject, total, latenciesMs));
    const busyMs = mainThreadMs() - busyBefore;
    await supervisor.stop();
    return {
      rate: (total / ms) * 1000,
      p99: percentile(latenciesMs, 0.99),
      microseconds: (busyMs / total) * 1000,
      written: (deviceBytes(home) - writtenBefore) / total,
    };
  });
}

/** A lane goes round its own sixteen actors. */
const drive = (
  supervisor: Awaited<ReturnType<typeof createSupervisor>>,
  { kind: { kind }, event }: Subject,
  count = total,
  latenciesMs: number[] = [],
): Promise<void> =>
  inFlight(lanes, count, async (lane, turn) => {
    const round = Math.floor(turn / (actors / lanes));
    const began = performance.now();
    mustHold(await supervisor.ask(kind, `a${lane + (turn % (actors / lanes)) * lanes}`, event(round)));
    latenciesMs.push(performance.now() - began);
  });

async function rewrite({ before, groups }: Recorded): Promise<number> {
  return withHome(async (home) => {
    const store = await openLevelStore({ directory: home });
    await replay(store, before, 1);
    const ms = await timed(() => replay(store, groups, groupsInFlight));
    await store.close();
    return (total / ms) * 1000;
  });
}

async function rewriteBare({ before, groups }: Recorded): Promise<number> {
  return withHome(async (home) => {
    const level = await openBare(home);
    await replay(level, before, 1);
    const ms = await timed(() => replay(level, groups, groupsInFlight));
    await level.close();
    return (total / ms) * 1000;
  });
}

const value = `"${'x'.repeat(498)}"`;
const keyOf = (lane: number, turn: number): string =>
  `c/raw/${String((turn * 7919 + lane) % 100_000).padStart(6, '0')}`;

async function put500(): Promise<number> {
  return withHome(async (home) => {
    const store = await openLevelStore({ directory: home });
    const put = coalescer((ops) =>
      store.write({ first: store.head.seq + 1, last: store.head.seq, chain: store.head.chain, ops }),
    );
    const ms = await timed(() => inFlight(lanes, total, (lane, turn) => put([keyOf(lane, turn), value])));
    await store.close();
    return (total / ms) * 1000;
  });
}

async function putBare(): Promise<number> {
  return withHome(async (home) => {
    const level = await openBare(home);
    const put = coalescer((ops) => level.write({ first: 1, last: 0, chain: '', ops }));
    const ms = await timed(() => inFlight(lanes, total, (lane, turn) => put([keyOf(lane, turn), value])));
    await level.close();
    return (total / ms) * 1000;
  });
}

/** The committer's way of forming groups, for single puts. */
function coalescer(write: (ops: readonly Op[]) => Promise<unknown>): (op: Op) => Promise<void> {
  let waiting: { op: Op; done: () => void; failed: (error: unknown) => void }[] = [];
  let scheduled = false;
  let underway = 0;
  const flush = (): void => {
    scheduled = false;
    while (waiting.length > 0 && underway < groupsInFlight && (underway === 0 || waiting.length >= 16)) {
      const group = waiting;
      waiting = [];
      underway += 1;
      write(group.map(({ op }) => op))
        .then(
          () => {
            for (const { done } of group) done();
          },
          (error: unknown) => {
            for (const { failed } of group) failed(error);
          },
        )
        .finally(() => {
          underway -= 1;
          flush();
        });
    }
  };
  return (op) =>
    new Promise((done, failed) => {
      waiting.push({ op, done, failed });
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    });
}
