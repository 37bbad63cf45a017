import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { layoutOf } from '../../lib/home/layout.js';
import { putBack, readWayBack } from '../../lib/home/way-back.js';
import { command } from '../helpers/command.js';
import { buildShim, environmentOf, type Fault, type FaultMode } from './faults/shim.js';
import { actorsIn, differ, judge, makeOldHome, rowsOf, wrongInMigrated, type Rows } from './old-home.js';
import { seeded, type Random } from './random.js';

/**
 * `npm run crash -- migrations [--actors 20000] [--kills 100] [--seed 1]`: a home of many actors of an older build is
 * migrated by `troupe migrate --apply`, which is killed: by turns before, in or after one of its own writes, syncs,
 * renames and unlinks, and at a random moment. After each kill every row is old or new and the way back, where there is
 * one, is the whole of before. Where it fell between the first actor and the last, and after each tenth, the migration is
 * finished, and taken back.
 */
export interface Migrations {
  readonly actors: number;
  readonly kills: number;
  readonly seed: number;
  /** Where homes are made and removed. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

export interface Outcome {
  readonly actors: number;
  /** Of the migration that was not killed; ms, with its rehearsal. */
  readonly milliseconds: number;
  readonly killed: number;
  /** Of these, at an operation on the disk; the others by time. */
  readonly atSteps: number;
  /** Kills after which some actors were migrated and some were not. */
  readonly between: number;
  /** Kills after which a way back was there. */
  readonly withWayBack: number;
  readonly violations: readonly string[];
}

/** `await migrations({ actors: 2_000, kills: 10, seed: 1, folder, say: console.log })` */
export async function migrations({ actors, kills, seed, folder, say }: Migrations): Promise<Outcome> {
  const old = join(folder, 'old');
  await makeOldHome(old, actors);
  const before = await rowsOf(old);
  say(`${actorsIn(before)} actors of an older build`);

  const whole = await copyOf(old, join(folder, 'whole'));
  const began = performance.now();
  const first = await migrate(whole);
  const milliseconds = performance.now() - began;
  const after = await rowsOf(whole);
  await rm(whole, { recursive: true, force: true });
  const violations =
    first === 0 ? [...wrongInMigrated(before, after)] : [`the migration ended with ${first}`];
  say(`migrated in ${(milliseconds / 1_000).toFixed(1)} s, ${violations.length} violations`);

  const steps = await stepsOf(old, folder);
  say(
    'why' in steps ? `kills by time only: ${steps.why}` : `${steps.operations.length} operations on the disk`,
  );
  const random = seeded(seed);
  const figures = { killed: 0, atSteps: 0, between: 0, withWayBack: 0 };
  for (let round = 1; figures.killed < kills && round <= 3 * kills; round += 1) {
    const home = await copyOf(old, join(folder, 'killed'));
    const death =
      'why' in steps || round % 2 === 0
        ? { ms: (rehearsalShare + (1 - rehearsalShare) * random.next()) * milliseconds }
        : stepIn(steps, random, { home, folder });
    if ((await migrate(home, death)) !== null) continue; // it was faster, or took fewer steps
    figures.killed += 1;
    if ('what' in death) figures.atSteps += 1;
    const where = 'what' in death ? death.what : `after ${death.ms.toFixed(0)} ms`;
    const wrong = (text: string): void => void violations.push(`round ${round}, killed ${where}: ${text}`);
    if (await wayBackIsThere(home, before, wrong)) figures.withWayBack += 1;
    const isBetween = judge(await rowsOf(home), before, after, wrong).size > 1;
    if (isBetween) figures.between += 1;
    if (isBetween || figures.killed % 10 === 0) await finishAndTakeBack(home, { before, after, wrong });
    if (figures.killed % 10 === 0)
      say(`${figures.killed} kills, ${figures.between} between old and new, ${violations.length} violations`);
  }
  if (figures.killed < kills)
    say(`WARNING: only ${figures.killed} of ${kills} kills met a running migration.`);
  if (figures.between === 0)
    say(
      'WARNING: no kill fell between the first actor and the last. This run proves little: use more kills.',
    );
  return { actors: actorsIn(before), milliseconds, ...figures, violations };
}

/** Is there a way back? Then it is the whole of before, also while the migration is not whole. */
async function wayBackIsThere(home: string, before: Rows, wrong: (text: string) => void): Promise<boolean> {
  if ((await readWayBack(layoutOf({ home }))) === undefined) return false;
  const kept = await copyOf(join(home, 'before-migration'), `${home}.way-back`);
  const rows = await rowsOf(kept).catch((error: unknown) => String(error));
  if (typeof rows === 'string') wrong(`the way back does not open: ${rows}`);
  else if (differ(rows, before)) wrong('the way back is not the home of before');
  await rm(kept, { recursive: true, force: true });
  return true;
}

async function finishAndTakeBack(
  home: string,
  { before, after, wrong }: { before: Rows; after: Rows; wrong: (text: string) => void },
): Promise<void> {
  if ((await migrate(home)) !== 0) wrong('it could not be finished');
  else if (differ(await rowsOf(home), after)) wrong('finished, it holds something else');
  if ((await readWayBack(layoutOf({ home }))) === undefined) return wrong('there is no way back');
  await putBack(layoutOf({ home }));
  if (differ(await rowsOf(home), before)) wrong('taken back, it holds something else');
}

type Death =
  | { readonly ms: number }
  | { readonly what: string; readonly shim: string; readonly fault: Fault };

interface Steps {
  readonly shim: string;
  /** `write store/000012.log`, in the order in which a whole migration did them. */
  readonly operations: readonly string[];
  /** Their numbers by what they are done to: a table has thousands, the note of the way back has three. */
  readonly places: readonly (readonly number[])[];
  /** Those that commit rows of actors: what falls between two of them is between old and new. */
  readonly commits: readonly number[];
}

/** What a migration does to the disk of a home once it has rehearsed. */
async function stepsOf(old: string, folder: string): Promise<Steps | { readonly why: string }> {
  const built = await buildShim(folder);
  if ('why' in built) return built;
  const home = await copyOf(old, join(folder, 'listed'));
  const log = join(folder, 'operations');
  const fault: Fault = { at: 0, mode: 'fail', under: home, log };
  const code = await migrate(home, { what: 'nowhere', shim: built.path, fault });
  if (code !== 0) throw new Error(`the migration whose steps are listed ended with ${code}`);
  const operations = (await readFile(log, 'utf8')).trimEnd().split('\n');
  await rm(home, { recursive: true, force: true });
  await rm(log, { force: true });
  const rehearsed = operations.findLastIndex((operation) => / tmp\/migration-/.test(operation));
  const places = new Map<string, number[]>();
  operations.forEach((operation, index) => {
    if (index <= rehearsed && / tmp(?:\/|$)/.test(operation)) return;
    const place = operation.replaceAll(/\d{6,}|\.[\w-]{12}\.writing$/g, '*');
    const numbers = places.get(place) ?? [];
    numbers.push(index + 1);
    places.set(place, numbers);
  });
  const commits = [...places].filter(([place]) => / store-copy\/segment/.test(place)).flatMap(([, at]) => at);
  return { shim: built.path, operations, places: [...places.values()], commits };
}

function stepIn(
  { shim, operations, places, commits }: Steps,
  random: Random,
  { home, folder }: { readonly home: string; readonly folder: string },
): Death {
  const at = random.pick(random.chance(0.5) ? commits : random.pick(places));
  const operation = operations[at - 1] ?? '';
  const modes: readonly FaultMode[] = [
    'before',
    'after',
    ...(operation.startsWith('write ') ? ['in' as const] : []),
  ];
  const mode = random.pick(modes);
  return {
    what: `${mode} operation ${at} (${operation})`,
    shim,
    fault: { at, mode, under: home, log: join(folder, 'struck') },
  };
}

async function copyOf(home: string, copy: string): Promise<string> {
  await rm(copy, { recursive: true, force: true });
  await cp(home, copy, { recursive: true });
  return copy;
}

/** The exit code; null where it was killed. */
async function migrate(home: string, death?: Death): Promise<number | null> {
  const env = death !== undefined && 'shim' in death ? environmentOf(death.shim, death.fault) : {};
  const child = spawn(process.execPath, [command, 'migrate', '--apply', '--home', home], {
    stdio: 'ignore',
    env: { ...process.env, ...env },
  });
  const timer =
    death !== undefined && 'ms' in death ? setTimeout(() => child.kill('SIGKILL'), death.ms) : undefined;
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  return code;
}

/** So long a copy is migrated, where a kill proves nothing. */
const rehearsalShare = 0.6;

if (process.argv[2] === 'migrations') {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      actors: { type: 'string', default: '20000' },
      kills: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
    },
  });
  const folder = await mkdtemp(join(fileURLToPath(new URL('../../', import.meta.url)), '.crash-migrations-'));
  const outcome = await migrations({
    actors: Number(values.actors),
    kills: Number(values.kills),
    seed: Number(values.seed),
    folder,
    say: (line) => console.log(line),
  });
  const { violations, ...figures } = outcome;
  console.log(JSON.stringify(figures));
  for (const violation of violations.slice(0, 20)) console.log(`  ! ${violation}`);
  console.log(`${violations.length} violations`);
  if (violations.length === 0) await rm(folder, { recursive: true, force: true });
  process.exit(violations.length === 0 ? 0 : 1);
}
