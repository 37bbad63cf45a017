import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seeded } from '../random.js';
import { runCase, type Verdict } from './case.js';
import { buildShim, type FaultMode } from './shim.js';

/**
 * `npm run crash -- faults [--every 1] [--seconds 86400] [--jobs 1] [--seed 1]`: every write, fsync, rename and unlink of
 * a scripted day of a real gateway is failed once, and the process is killed before, in the middle of, and after each;
 * each time a gateway without a fault opens what is left and is audited. `--seconds` ends it early: the cases are then a
 * sample in the order of the seed. Exit code 1 when anything was lost, doubled, unsound, or did not open.
 */
const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    every: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '86400' },
    jobs: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
});
const numbers = Object.fromEntries(
  Object.entries(values).map(([name, value]) => [name, Number(value)]),
) as Readonly<Record<keyof typeof values, number>>;
if (!Object.values(numbers).every((value) => Number.isSafeInteger(value) && value > 0))
  throw new TypeError('--every, --seconds, --jobs and --seed are whole numbers above 0');

interface Case {
  readonly at: number;
  readonly mode: FaultMode;
}

const began = performance.now();
const isOver = (): boolean => performance.now() - began > numbers.seconds * 1000;
async function campaign(shim: string): Promise<void> {
  const whole = await runCase(shim, 0, 'fail');
  const broken = wrongWith(whole);
  if (broken.length > 0 || whole.acknowledged === 0)
    throw new Error(`the day without a fault is not sound: ${broken.join('; ')}`);
  const cases = matrix(whole.operations);
  console.log(
    `faults: ${whole.operations.length} operations, ${whole.acknowledged} changes, ${cases.length} cases, seed ${numbers.seed}`,
  );
  const figures = {
    run: 0,
    struck: 0,
    acknowledged: 0,
    lost: 0,
    doubled: 0,
    unopenable: 0,
    unsound: 0,
    silent: 0,
  };
  const silent = new Map<string, number>();
  const next = cases.values();
  const work = async (): Promise<void> => {
    for (const { at, mode } of next) {
      if (isOver()) return;
      const verdict = await runCase(shim, at, mode);
      figures.run += 1;
      if (figures.run % 100 === 0) console.log(`  … ${figures.run}`);
      figures.acknowledged += verdict.acknowledged;
      figures.lost += verdict.lost.length;
      figures.doubled += verdict.doubled.length;
      if (verdict.operation !== undefined) figures.struck += 1;
      if (verdict.unopenable !== undefined) figures.unopenable += 1;
      if (verdict.unsound !== undefined) figures.unsound += 1;
      const what = placeOf(verdict.operation ?? 'nothing');
      if (verdict.silent) {
        figures.silent += 1;
        silent.set(what, (silent.get(what) ?? 0) + 1);
      }
      for (const wrong of wrongWith(verdict)) {
        process.exitCode = 1;
        console.log(`  ! ${mode} ${at} (${verdict.operation ?? 'nothing'}): ${wrong}`);
      }
    }
  };
  await Promise.all(Array.from({ length: numbers.jobs }, work));
  console.log(
    `  ${Object.entries(figures)
      .map(([name, count]) => `${name} ${count}`)
      .join(' · ')}`,
  );
  for (const [what, count] of silent) console.log(`  told by nobody: ${what} (${count})`);
  console.log(`  ${Math.round((performance.now() - began) / 1000)} s`);
}

/** Every operation with every mode; only a write has a middle. Shuffled by the seed when it may end early. */
function matrix(operations: readonly string[]): readonly Case[] {
  const modes: readonly FaultMode[] = ['fail', 'before', 'in', 'after'];
  const all = operations
    .flatMap((operation, index) =>
      modes
        .filter((mode) => mode !== 'in' || operation.startsWith('write '))
        .map((mode): Case => ({ at: index + 1, mode })),
    )
    .filter((_, index) => index % numbers.every === 0);
  const random = seeded(numbers.seed);
  return all
    .map((each) => ({ each, order: random.next() }))
    .sort((one, other) => one.order - other.order)
    .map(({ each }) => each);
}

const wrongWith = ({ lost, doubled, unopenable, unsound }: Verdict): readonly string[] => [
  ...lost.map((tag) => `lost ${tag}`),
  ...doubled.map((tag) => `doubled ${tag}`),
  ...(unopenable === undefined ? [] : [`does not open: ${unopenable}`]),
  ...(unsound === undefined ? [] : [`unsound: ${unsound}`]),
];

/** `write store/000003.log` → `write store/*.log`. */
const placeOf = (operation: string): string =>
  operation.replaceAll(/[0-9a-f-]{36}|run-[\w-]+|\d{6,}/g, '*').replace(/\.[\w-]{12}\.writing$/, '');

const folder = await mkdtemp(join(tmpdir(), 'troupe-shim-'));
try {
  const shim = await buildShim(folder);
  if ('why' in shim) console.log(`faults: not run, because ${shim.why}; 0 cases`);
  else await campaign(shim.path);
} finally {
  await rm(folder, { recursive: true, force: true });
}
