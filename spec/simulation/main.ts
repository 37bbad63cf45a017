import './install.js';
import { register } from 'node:module';
import { parseArgs } from 'node:util';
import { allPlanted } from './planted/all.js';

/** `npm run simulate -- --seeds 10000 [--from 0]`, or `--seed 17` for one of them. Ends with 1 where one failed. */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '500' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    /** Print the digest of each history. */
    digests: { type: 'boolean', default: false },
    /** Print the table of coverage. */
    coverage: { type: 'boolean', default: false },
    /** Put a defect back, by its name in planted/. */
    plant: { type: 'string' },
    'stop-at-first': { type: 'boolean', default: false },
    /** In so many processes; each takes every n-th seed. */
    jobs: { type: 'string', default: '1' },
    every: { type: 'string', default: '1' },
    /** Who lives on the machine: `workshop` (small kinds that use all of the kernel) or `fleet` (agents, items, runs). */
    world: { type: 'string', default: 'workshop' },
    /** Make the plan of a failing history smaller. */
    shrink: { type: 'boolean', default: false },
  },
});
if (values.plant !== undefined) {
  const planted = allPlanted.find(({ name }) => name === values.plant);
  if (planted === undefined) throw new RangeError(`nothing is planted under "${values.plant}"`);
  register(new URL('./planted/hook.js', import.meta.url), { data: planted.edits });
}
const { runHistory } = await import('./history.js');
const { worldNamed } = await import('./worlds.js');
const worldOf = worldNamed(values.world);
const { planOf } = await import('./plan.js');
const { Report } = await import('./report.js');
const { inProcesses, isChild, passOn } = await import('./jobs.js');
// A history throws thousands of errors that it expects; one that fails is played again alone, with stacks
if (values.seed === undefined) Error.stackTraceLimit = 0;
const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const jobs = Number(values.jobs);
// A run of no history would end as if it had found nothing
for (const [name, number] of Object.entries({ from: first, seeds: count, jobs, every: Number(values.every) }))
  if (!Number.isSafeInteger(number) || number < (name === 'from' ? 0 : 1))
    throw new RangeError(`--${name} must be a whole number, for example --seeds 500 --from 0`);
const report = new Report();
const play = async (seed: number): Promise<boolean> => {
  const began = process.cpuUsage();
  const outcome = await runHistory(planOf(seed), worldOf);
  const { user, system } = process.cpuUsage(began);
  const seconds = (user + system) / 1e6;
  report.seconds += seconds;
  report.add(outcome);
  if (isChild) passOn(outcome, seconds);
  if (values.digests) console.log(`digest ${seed} ${outcome.digest}`);
  if (outcome.problem === undefined) return true;
  console.log(`seed ${seed}: ${outcome.problem}`);
  if (values.shrink) {
    const { shrink } = await import('./shrink.js');
    console.log(await shrink(planOf(seed), outcome.problem, worldOf));
  }
  return !values['stop-at-first'];
};
if (jobs > 1) await inProcesses(jobs, { first, count, plant: values.plant, world: values.world }, report);
else
  for (let seed = first; seed < first + count; seed += Number(values.every)) if (!(await play(seed))) break;
if (!isChild) console.log(report.text(values.coverage));
process.exitCode = report.failed === 0 ? 0 : 1;
