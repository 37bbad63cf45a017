import type { Random } from '../crash/random.js';
import { streamOf } from './machine.js';
import type { Life, Step } from './plan.js';

/**
 * Some lives have steps in a row that chance would seldom bring together: a clock that is set back when it matters, a
 * plan that has to wait for one of its actors. Each is drawn apart from the rest of a plan, which it leaves as it is.
 */
export function withMotifs(seed: number, lives: readonly Life[]): readonly Life[] {
  return withMotif(streamOf(seed, 'held up'), [heldUp], withMotif(streamOf(seed, 'clocks'), clocks, lives));
}

const withMotif = (
  random: Random,
  motifs: readonly (readonly Step[])[],
  lives: readonly Life[],
): readonly Life[] =>
  lives.map((life): Life => {
    if (!random.chance(0.12)) return life;
    const at = random.between(0, life.steps.length);
    const steps = random.pick(motifs);
    return { ...life, steps: [...life.steps.slice(0, at), ...steps, ...life.steps.slice(at)] };
  });

const hourMs = 3_600_000;

/** What was to come in a moment comes in bounded time all the same. */
const setBack: readonly Step[] = [{ do: 'pass', ms: 900 }, { do: 'wall', ms: -hourMs }, { do: 'calm' }];

/** The clock is looked at every quarter of a minute. */
const livedAgain: readonly Step[] = [
  { do: 'sleep', ms: 8 * hourMs },
  { do: 'pass', ms: 30_000 },
  { do: 'wall', ms: -hourMs },
  { do: 'pass', ms: 30_000 },
  { do: 'sleep', ms: 3 * hourMs },
  { do: 'pass', ms: 30_000 },
];

const clocks = [setBack, setBack, livedAgain];

const firstOf = { who: 0, whom: 0, behaviour: 'good' } as const;

/**
 * While all is quiet a plan is behind its turn with one actor and waits for the other, when that one fails and rests.
 * The first is asked for something meanwhile.
 */
const heldUp: readonly Step[] = [
  { do: 'mend' },
  { do: 'pass', ms: 30_000 },
  { do: 'inplace', ...firstOf },
  { do: 'pass', ms: 4_000 },
  ...Array.from({ length: 8 }, (): Step => ({ do: 'add', ...firstOf })),
  { do: 'join', ...firstOf },
  { do: 'inplace', ...firstOf },
  { do: 'pass', ms: 60 },
  { do: 'add', ...firstOf },
  { do: 'pass', ms: 1_500 }, // it rests for longer
];
