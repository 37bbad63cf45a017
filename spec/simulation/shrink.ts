import { runHistory } from './history.js';
import type { Life, Plan } from './plan.js';
import type { WorldOf } from './world.js';

/**
 * Makes the plan of a failing history smaller as long as it fails in the same way: whole lives, then halves, quarters
 * and single ones of the steps, then faults. Answers what is left, as text.
 */
export async function shrink(plan: Plan, problem: string, worldOf: WorldOf): Promise<string> {
  const sort = sortOf(problem);
  let best = plan;
  let runs = 0;
  const fails = async (smaller: Plan): Promise<boolean> => {
    if ((runs += 1) > runsMax) return false;
    const { problem: found } = await runHistory(smaller, worldOf);
    if (found === undefined || sortOf(found) !== sort) return false;
    best = smaller;
    return true;
  };
  for (let life = 0; life < best.lives.length;)
    if (
      best.lives.length === 1 ||
      !(await fails({ ...best, lives: best.lives.filter((_, at) => at !== life) }))
    )
      life += 1;
  for (const list of ['steps', 'faults'] as const)
    for (let life = 0; life < best.lives.length; life += 1)
      for (let size = best.lives[life]![list].length; size >= 1; size = Math.floor(size / 2))
        for (let at = 0; at < best.lives[life]![list].length;) {
          const lives = best.lives.map((one, index): Life =>
            index === life ? { ...one, [list]: one[list].filter((_, n) => n < at || n >= at + size) } : one,
          );
          if (!(await fails({ ...best, lives }))) at += size;
        }
  return `after ${runs} runs:\n${JSON.stringify(best.settings)}\n${best.lives.map(textOf).join('\n')}`;
}

const runsMax = 400;
/** The same defect says the same, but for names and numbers. */
const sortOf = (problem: string): string =>
  problem
    .split('\n')[0]!
    .replace(/[0-9]+/g, '#')
    .replace(/(?:\b[a-z-]+#\b|\S*\/\S*)/g, '~');

function textOf({ version, steps, faults, end }: Life): string {
  return [
    `life (version ${version}, ${end})`,
    ...steps.map((step) => `  ${JSON.stringify(step)}`),
    ...faults.map((fault) => `  ! ${JSON.stringify(fault)}`),
  ].join('\n');
}
