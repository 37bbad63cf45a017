import type { Random } from '../crash/random.js';
import type { Verdict } from './disk.js';
import { cells, type Cell } from './coverage.js';
import { streamOf } from './machine.js';
import { withMotifs } from './motifs.js';
import type { Behaviour } from './kinds.js';
import type { Damage } from './tables.js';

/**
 * One history, decided before it begins: settings, and lives made of steps, faults and an end. It is plain data, so
 * that a failing one can be made smaller piece by piece.
 */
export interface Plan {
  readonly seed: number;
  readonly settings: Settings;
  readonly lives: readonly Life[];
}

export interface Settings {
  readonly segmentBytesMax: number;
  readonly reserveBytes: number;
  readonly checkpointBytes: number;
  readonly baseBytesMin: number;
  readonly scrubEveryMs: number;
  readonly awakeActorsMax: number;
  readonly mailboxMax: number;
  readonly keepLogBytes: number;
  /** By how much timeouts come too early at most, and too late. */
  readonly earlyMsMax: number;
  readonly lateMsMax: number;
}

export interface Life {
  readonly version: 1 | 2;
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
  readonly end: 'stop' | 'kill' | 'power';
}

/** What clients do, and what happens to the machine. */
export type Step =
  | { readonly do: Operation; readonly who: number; readonly whom: number; readonly behaviour: Behaviour }
  | { readonly do: 'pass'; readonly ms: number }
  /** Faults are over for now; what is owed must be there in bounded time. */
  | { readonly do: 'calm' }
  | { readonly do: 'wall'; readonly ms: number }
  | { readonly do: 'sleep'; readonly ms: number }
  | { readonly do: 'stall'; readonly ms: number }
  | { readonly do: 'upkeep'; readonly task: 'checkpoint' | 'compact' | 'scrub' | 'verify' | 'read' }
  | { readonly do: 'mend' }
  /** Someone begins to follow the log, so many entries back. */
  | { readonly do: 'follow'; readonly back: number; readonly afterMs: number }
  /** Someone opens the home that is open, by another spelling of its path. */
  | { readonly do: 'open-again'; readonly path: string }
  | { readonly do: 'damage'; readonly copy: 'database' | 'copy'; readonly how: Damage };

export const allOperations = [
  'add',
  'pass-on',
  'set',
  'name',
  'unset',
  'twice',
  'snooze',
  'order',
  'guard',
  'bear',
  'touch',
  'crack',
  'repair',
  'retire',
  'spin',
  'bigint',
  'buffer',
  'inplace',
  'inherited',
  'carry',
  'cyclic',
  'bad-id',
  'open',
  'close',
  'move',
  'join',
  'number',
  'issue',
] as const satisfies readonly string[];
export type Operation = (typeof allOperations)[number];

/** From the n-th operation of that name on in that phase of a life: what goes wrong, and for how long. */
export interface Fault extends Cell {
  readonly nth: number;
  /** Of errors and slowness: 0 once, else for so long, on every operation of the disk. */
  readonly forMs: number;
  readonly power: boolean;
  readonly share: number;
}

export const residentsOfEach = 2;

export function planOf(seed: number): Plan {
  const random = streamOf(seed, 'plan');
  const lives = random.between(2, 5);
  const firstVersionLives = random.chance(0.5) ? lives : random.between(1, lives);
  const plan: Plan = {
    seed,
    settings: settingsOf(random),
    lives: Array.from({ length: lives }, (_, life) => lifeOf(random, life < firstVersionLives ? 1 : 2)),
  };
  const made = aimed(random, plan.lives, seed);
  const aimedAt = random.chance(0.12) ? withUnsyncedName(random, made) : made;
  return { ...plan, lives: withMotifs(seed, aimedAt) };
}

/**
 * Lives are made so that they come to a cell, if they can. One cell by the number of the seed, so that all are met
 * as seeds are counted up, and in about half of the other lives another.
 */
function aimed(random: Random, lives: readonly Life[], seed: number): readonly Life[] {
  const first = cells[seed % cells.length]!;
  const isLate = late.test(first.operation) || ofTheDead.test(first.operation);
  const at = isOfNewHomes(first) ? 0 : isLate ? 1 : random.between(0, 1);
  const made = lives.map((life, index) => (index < at ? { ...life, faults: [] } : life));
  lives.forEach((_, index) => {
    // Three times: something else may come in between
    const isFirst = index >= at && index <= at + 2;
    const cell = isFirst ? first : cells[(seed + 211 * (index + 1)) % cells.length]!;
    if (!isFirst && (index < at || random.chance(0.5) || isOfNewHomes(cell))) return;
    aim(random, made, index, cell);
  });
  return made;
}

/** A process dies before a name is durable; the next uses the file as it finds it, until the power is cut. */
function withUnsyncedName(random: Random, lives: readonly Life[]): readonly Life[] {
  const at = random.between(0, lives.length - 2);
  const crash = random.pick([
    fault('crash before', 'copy.sync-names', 'opening', { nth: random.between(1, 2) }),
    fault('crash before', 'copy.sync-names', 'running', { nth: random.between(1, 4) }),
    fault('crash after', 'segment.create', 'running'),
  ]);
  return lives.map((life, index): Life =>
    index === at
      ? { ...life, faults: [crash] }
      : index === at + 1
        ? {
            ...life,
            steps: life.steps.filter(({ do: what }) => isOperation(what)).slice(0, 3),
            faults: [],
            end: 'power',
          }
        : life,
  );
}

const isOperation = (name: string): boolean => (allOperations as readonly string[]).includes(name);

/** What is there only after a while, or after damage. */
const late = /^(?:base|tables\.(?:remove|rename|close|flush))/;

/** What is there after a life that died young. */
const ofTheDead = /^note\.(?:open|read)/;

/** What happens while a home is made, and seldom later. */
const isOfNewHomes = ({ phase, operation }: Cell): boolean =>
  phase === 'opening' &&
  /^(?:marker|tables\.list$|checkpoint\.(?:create|write|sync|rename)$)/.test(operation);

function aim(random: Random, lives: Life[], index: number, cell: Cell): void {
  const life = lives[index]!;
  const before = lives[index - 1];
  if (cell.phase === 'opening' && late.test(cell.operation) && before !== undefined)
    lives[index - 1] = { ...before, steps: [...before.steps, damaged('shut')], end: 'kill' };
  if (cell.phase === 'opening' && ofTheDead.test(cell.operation) && before !== undefined)
    lives[index - 1] = { ...before, steps: before.steps.slice(0, 8), end: 'kill' };
  // Only a life that is well comes to its stop, and to the end of its opening
  const others =
    cell.phase === 'running' ? life.faults.filter(({ fault }) => !fault.startsWith('crash')) : [];
  const trigger = fault('error', 'segment.write', 'running', {
    nth: random.between(3, 12),
    share: random.pick([0, 1]),
  });
  const steps =
    cell.phase === 'stopping'
      ? life.steps.filter(({ do: what }) => isOperation(what)).slice(0, 12)
      : cell.phase === 'recovering'
        ? life.steps.filter(({ do: what }) => what !== 'damage') // one copy at a time: the other's would not come
        : [...life.steps];
  steps.splice(random.between(0, steps.length), 0, ...stepsTowards(cell));
  lives[index] = {
    ...life,
    steps,
    faults: [
      faultOf(random, cell, cell.phase === 'running' ? 2 : 1),
      // Else it is damage that makes the store recover, and by another way
      ...(cell.phase === 'recovering' && cell.operation.startsWith('segment') ? [trigger] : []),
      ...others,
    ],
    end: cell.phase === 'stopping' ? 'stop' : life.end,
  };
}

/** What makes the store do such a thing, where it seldom does by itself. */
function stepsTowards({ phase, operation }: Cell): readonly Step[] {
  if (phase === 'recovering')
    return /^segment/.test(operation)
      ? []
      : [{ do: 'pass', ms: 900 }, damaged('unreadable'), { do: 'upkeep', task: 'scrub' }];
  if (phase !== 'running') return [];
  if (operation === 'note.remove' || operation === 'home.sync-names') return [{ do: 'pass', ms: 40_000 }];
  if (/^(?:base|copy\.mkdir|segment\.remove)/.test(operation))
    return [
      { do: 'upkeep', task: 'compact' },
      { do: 'upkeep', task: 'verify' },
    ];
  if (/^(?:checkpoint|copy|tables\.flush)/.test(operation))
    return [
      { do: 'upkeep', task: 'checkpoint' },
      { do: 'upkeep', task: 'verify' },
    ];
  return [];
}

/** The first row of all is rewritten with every group: it can be hit only right after a flush. */
const damagedFirst: readonly Step[] = [
  { do: 'pass', ms: 4_000 },
  { do: 'upkeep', task: 'checkpoint' },
  { do: 'damage', copy: 'database', how: 'first key' },
  { do: 'upkeep', task: 'scrub' },
];

const damaged = (how: Damage): Step => ({ do: 'damage', copy: 'database', how });

function settingsOf(random: Random): Settings {
  return {
    segmentBytesMax: random.pick([8 << 10, 16 << 10, 64 << 10]),
    reserveBytes: random.pick([0, 1 << 10, 8 << 10]),
    checkpointBytes: random.pick([4 << 10, 16 << 10, 64 << 10, 1 << 20]),
    baseBytesMin: random.pick([8 << 10, 32 << 10, 1 << 20]),
    scrubEveryMs: random.pick([0, 5_000, 30_000]),
    awakeActorsMax: random.pick([2, 4, 1_000]),
    mailboxMax: random.pick([3, 1_000, 1_000]),
    keepLogBytes: random.pick([20_000, 2 ** 31, 2 ** 31]),
    earlyMsMax: avoid.includes('early') ? 0 : random.pick([0, 1, 1, 3]),
    lateMsMax: random.pick([1, 5, 300]),
  };
}

function lifeOf(random: Random, version: 1 | 2): Life {
  const count = random.chance(0.15) ? random.between(1, 8) : random.between(80, 190);
  const steps: Step[] = [];
  // Fewer sorts at a time meet each other more often
  const operations = allOperations.filter((one) => !avoid.includes(one));
  const sorts = random.chance(0.5) ? operations : Array.from({ length: 4 }, () => random.pick(operations));
  for (let at = 0; at < count; at += 1) steps.push(stepOf(random, sorts));
  if (random.chance(0.1)) steps.push(...damagedFirst);
  if (random.chance(0.5)) steps.push({ do: 'calm' });
  else if (random.chance(0.3))
    steps.push({ do: 'damage', copy: random.pick(['database', 'copy']), how: random.pick(damages) });
  const faults: Fault[] = [];
  while (random.chance(0.55)) faults.push(faultOf(random, random.pick(cells), 40));
  if (random.chance(0.35)) faults.push(...random.pick(combinations)(random));
  return { version, steps, faults, end: random.pick(['stop', 'kill', 'kill', 'power', 'power'] as const) };
}

function stepOf(random: Random, sorts: readonly Operation[]): Step {
  const sort = random.next();
  if (sort < 0.74)
    return {
      do: rarely(random.pick(sorts), random),
      who: random.between(0, residentsOfEach - 1),
      whom: random.between(0, residentsOfEach - 1),
      behaviour: random.pick(['good', 'good', 'good', 'throws', 'silent', 'slow'] as const),
    };
  if (sort < 0.84) return { do: 'pass', ms: random.pick([0, 0, 1, 5, 60, 250, 900, 4_000, 15_000, 30_000]) };
  if (sort < 0.86)
    return {
      do: 'follow',
      back: random.pick([0, 0, 1, 5, 50]),
      afterMs: random.pick([0, 0.6 * random.next()]),
    };
  if (sort < 0.865) return { do: 'open-again', path: random.pick(['/home', '/alias']) };
  if (sort < 0.88) return { do: 'calm' };
  if (sort < 0.9)
    return {
      do: 'wall',
      ms: random.pick([-3_600_000, -90_000, -1_500, 1_500, 90_000, 3_600_000, 40 * day, -40 * day]),
    };
  if (sort < 0.91) return { do: 'sleep', ms: random.pick([1_000, 60_000, 8 * 3_600_000]) };
  if (sort < 0.93) return { do: 'stall', ms: random.pick([3, 50, 2_500]) };
  if (sort < 0.97)
    return {
      do: 'upkeep',
      task: random.pick(['checkpoint', 'compact', 'scrub', 'verify', 'read'] as const),
    };
  if (sort < 0.98) return { do: 'mend' };
  return {
    do: 'damage',
    copy: random.pick(['database', 'copy'] as const),
    how: random.pick(damages),
  };
}

/** What costs ten thousand microsteps, or as many frames of the stack, is done now and then only. */
const rarely = (operation: Operation, random: Random): Operation =>
  (operation === 'spin' && !random.chance(0.03)) || (operation === 'cyclic' && !random.chance(0.1))
    ? 'touch'
    : operation;

const day = 24 * 3_600_000;

/** `SIMULATION_AVOID=spin,key` leaves out what is known and would only hide the rest. */
const avoid = (process.env['SIMULATION_AVOID'] ?? '').split(',');
const damages = (['value', 'key', 'unreadable', 'shut', 'fatal'] as const).filter(
  (how) => !avoid.includes(how),
);

function faultOf(random: Random, cell: Cell, nthMax: number): Fault {
  return {
    ...cell,
    nth: random.between(1, random.pick([1, nthMax])),
    forMs: random.pick([0, 0, 300, 4_500]),
    power: random.chance(0.5),
    share: random.pick([0, 0, random.next(), 1]),
  };
}

/** Faults that do little harm alone, and much together. */
const combinations: readonly ((random: Random) => readonly Fault[])[] = [
  // All of a frame lies in the file, the disk says no, and the process dies while it cleans up
  (random) => [
    fault('error', 'segment.write', 'running', { nth: random.between(1, 30), share: 1 }),
    fault('crash before', random.pick(['segment.open', 'segment.truncate', 'segment.sync']), 'recovering'),
  ],
  // The same, and it goes on
  (random) => [fault('error', 'segment.write', 'running', { nth: random.between(1, 30), share: 1 })],
  // A name is made and not durable; the next life takes it as it finds it
  (random) => [
    fault('crash before', 'copy.sync-names', random.pick(['opening', 'running']), {
      nth: random.between(1, 3),
    }),
  ],
  (random) => [fault('crash after', 'segment.create', 'running', { nth: random.between(1, 2) })],
  // Nothing can be read for a while
  (random) => [
    fault('error', 'tables.iterate', 'running', {
      nth: random.between(1, 60),
      forMs: random.pick([1_500, 15_000]),
    }),
  ],
  // Nor does the store come back
  (random) => [fault('full disk', 'segment.write', 'running', { nth: random.between(1, 60), forMs: 30_000 })],
  // Nothing can be written for longer than a retry waits
  (random) => [
    fault(random.pick(['error', 'full disk']), 'segment.write', 'running', {
      nth: random.between(1, 40),
      forMs: random.pick([4_500, 30_000]),
      share: random.pick([0, 1]),
    }),
  ],
];

function fault(
  name: Cell['fault'],
  operation: string,
  phase: Cell['phase'],
  how: Partial<Pick<Fault, 'nth' | 'forMs' | 'share'>> = {},
): Fault {
  return { fault: name, operation, phase, nth: 1, forMs: 0, power: false, share: 0, ...how };
}

export function verdictOf(fault: Fault): Verdict {
  switch (fault.fault) {
    case 'crash before':
    case 'crash in':
    case 'crash after':
      return { type: 'crash', when: fault.fault.slice(6) as 'before' | 'in' | 'after', power: fault.power };
    case 'error':
      return { type: 'error', code: 'EIO', share: fault.share };
    case 'full disk':
      return { type: 'error', code: 'ENOSPC', share: fault.share === 1 ? 0.5 : fault.share };
    case 'slow':
      return { type: 'slow', ms: fault.forMs === 0 ? 200 : fault.forMs };
  }
}
