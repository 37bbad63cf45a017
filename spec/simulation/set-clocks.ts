import { streamOf } from './machine.js';
import type { Life, Step } from './plan.js';

/**
 * Some lives have a clock that is set back when it matters: between an operation and what it sets off, and after
 * hours that then come a second time. Drawn apart from the rest of a plan, which it leaves as it is.
 */
export function withSetClocks(seed: number, lives: readonly Life[]): readonly Life[] {
  const random = streamOf(seed, 'clocks');
  return lives.map((life): Life => {
    if (!random.chance(0.12)) return life;
    const at = random.between(0, life.steps.length);
    const steps = random.pick([setBack, setBack, livedAgain]);
    return { ...life, steps: [...life.steps.slice(0, at), ...steps, ...life.steps.slice(at)] };
  });
}

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
