import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { heldMs, holdOne, makeDecisions } from './decisions.js';
import { openFarSide } from './far-side.js';
import {
  configOf,
  connectorNames,
  furnish,
  installPrograms,
  notifyAtOnce,
  notifyLater,
  withoutWorkers,
} from './furnish.js';
import { startInstance, type Instance } from './instance.js';
import {
  makeConnectors,
  makeCron,
  makeHeldNotices,
  makeWorkingFire,
  notifiersDiffer,
  openBackends,
  pairBrowsers,
  sendForever,
  stopConnector,
} from './outlets.js';
import { census, isAtWork, quiet } from './quiet.js';
import { lacking } from './states.js';
import { keep } from './keep.js';
import { allAsleep, makeBudgets, makeFiles, makeRunning, makeSessions } from './sessions.js';
import { makeBindings, makeChecking, makeWorkflows } from './workflows.js';
import { makeWorkItems } from './work.js';
import { makeWorkers } from './workers.js';

/**
 * `npm run golden`: brings a home of this build into every state that can be reached from outside, over HTTP alone,
 * and keeps it twice: stopped cleanly, and killed. See README.md for when to do so.
 */
export type Ending = 'clean' | 'killed';

/** Neutral, because it gets into records: the same on every machine that makes one. */
const folder = '/tmp/troupe-golden';
const creation = Date.UTC(2026, 2, 2, 9);
const hourMs = 3_600_000;

/** The home's files, and the time at which its last process ended. */
async function makeHome(ending: Ending): Promise<{ readonly home: string; readonly at: number }> {
  await mkdir(folder);
  const home = join(folder, 'home');
  const far = await openFarSide(false);
  let instance: Instance | undefined;
  try {
    await installPrograms(folder);
    const settings = (connectors: readonly string[]): string =>
      configOf({ folder, farSide: far.url, isSlow: true }, connectors) + withoutWorkers;
    await furnish(home, settings(connectorNames));
    const remaining = connectorNames.filter((name) => name !== 'stopped');
    const configure = (notify: string): Promise<void> =>
      writeFile(join(home, 'config.yaml'), settings(remaining) + notify);
    instance = await startInstance(home, creation);
    await firstLife(instance, () => configure(''));
    await instance.kill();
    instance = await startInstance(home, creation + hourMs);
    await quiet(instance.operator);
    await instance.stop();
    const third = creation + 72 * hourMs;
    await configure(notifyLater);
    instance = await startInstance(home, third - hourMs);
    await quiet(instance.operator);
    await makeHeldNotices(instance.operator);
    await makeDecisions(instance.operator);
    await openBackends(instance); // that no one comes through in time
    await instance.stop();
    await configure(notifyAtOnce(3));
    const began = performance.now();
    instance = await startInstance(home, third);
    await quiet(instance.operator);
    await lastLife(instance);
    const at = Math.ceil(third + performance.now() - began) + heldMs + 10_000;
    if (ending === 'clean') await instance.stop();
    else await instance.kill();
    return { home, at };
  } finally {
    await instance?.kill();
    await far.close();
  }
}

/** Everything that lasts, and turns that are cut off. */
async function firstLife(instance: Instance, configure: () => Promise<void>): Promise<void> {
  const { operator, home } = instance;
  // Evidence of this workflow cannot be written: its place is taken
  await mkdir(dirname(join(home, unwritable)), { recursive: true });
  await writeFile(join(home, unwritable), '');
  await makeWorkItems(operator);
  await makeSessions(operator);
  await makeBudgets(operator);
  await makeFiles(operator);
  await makeWorkflows(operator);
  await makeBindings(operator);
  await makeConnectors(operator);
  await makeCron(operator);
  await pairBrowsers(instance);
  await stopConnector(operator, configure);
  await makeRunning(operator, 'first life');
}

/** Everything that does not outlive its process. */
async function lastLife(instance: Instance): Promise<void> {
  const { operator } = instance;
  await makeWorkers(operator);
  await makeRunning(operator, 'last life');
  await makeWorkingFire(operator);
  await makeChecking(operator);
  sendForever(operator);
  await pairBrowsers(instance); // what came of earlier ones is forgotten after a day
  await openBackends(instance);
  await isAtWork(operator);
  await allAsleep(operator);
  await notifiersDiffer(operator);
  await holdOne(operator);
  const lacks = lacking(await census(operator));
  if (lacks.length > 0) throw new Error(`nothing stands in ${lacks.join(', ')}`);
}

const unwritable = 'workflow-evidence/workflows/unwritable';

await rm(folder, { recursive: true, force: true });
const started = performance.now();
for (const ending of ['clean', 'killed'] as const) {
  const made = await makeHome(ending);
  console.log(await keep(made, ending));
  await rm(folder, { recursive: true });
}
console.log(`made in ${Math.round((performance.now() - started) / 1000)} s`);
