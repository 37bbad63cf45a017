import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { percentile } from '../bench/measure.js';
import type { Life } from '../crash/campaign.js';
import { GatewayWriter } from '../crash/gateway-writer.js';
import { gatewayScenario } from '../crash/gateway.js';
import { Journal, violationKinds } from '../crash/journal.js';
import { seeded } from '../crash/random.js';
import { begin, end, type Victim } from '../crash/victim.js';
import { Group } from './group.js';
import { Pulse, vitalsOf, type Vitals } from './vitals.js';
import { judgeJobs, keepBusy, prepare } from './work.js';

/**
 * `npm run soak -- --minutes 60 [--sockets 10000] [--silent 1000] [--sessions 200] [--writers 8] [--pause 20] [--lives 6]
 * [--seed 1]`: a real gateway under everything at once, killed `lives - 1` times on the way: watchers of whom some never
 * read, sessions, work items, cron jobs, runs of workflows; each writer rests for so many milliseconds after each act.
 * Prints memory, disk, stalls, and at the end what was lost or doubled; exit code 1 for any of these.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    sockets: { type: 'string', default: '10000' },
    silent: { type: 'string' },
    sessions: { type: 'string', default: '200' },
    writers: { type: 'string', default: '8' },
    pause: { type: 'string', default: '20' },
    lives: { type: 'string', default: '6' },
    seed: { type: 'string', default: '1' },
  },
});
const whole = (name: keyof typeof values, most: number, standard?: number): number => {
  const value = Number(values[name] ?? standard);
  if (!Number.isSafeInteger(value) || value < 1 || value > most)
    throw new TypeError(`--${name} is a whole number from 1 to ${most}`);
  return value;
};
const minutes = whole('minutes', 7 * 24 * 60);
const wanted = whole('sockets', 50_000);
const sessions = whole('sessions', 10_000);
const writers = whole('writers', 256);
const pauseMs = whole('pause', 60_000);
const lives = whole('lives', 10_000);
const seed = whole('seed', 2 ** 31);

const most = await descriptorsMax();
const sockets = Math.min(wanted, most - 1_000);
if (sockets < wanted)
  console.log(`this user may open ${most} files: ${sockets} sockets instead of ${wanted}`);
const silent = Math.min(sockets, whole('silent', 50_000, Math.ceil(sockets / 10)));

const home = await mkdtemp(join(fileURLToPath(new URL('../../', import.meta.url)), '.soak-'));
const journal = new Journal(`${home}.jsonl`);
const talker = new GatewayWriter(999, seeded(seed), journal);
const scenario = await gatewayScenario(journal, seed, [talker]);
const group = new Group(sockets - silent, silent);
const pulse = new Pulse();
const past: Life[] = [];
const samples: Vitals[] = [];
let victim: Victim | undefined;
try {
  await soak();
} catch (error) {
  journal.violated('unexpected', error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  group.leave();
  pulse.end();
  if (victim !== undefined) await end(victim.child, 'SIGKILL');
}
await report();

async function soak(): Promise<void> {
  const command = scenario.command(home);
  const config = join(home, 'config.yaml');
  await writeFile(
    config,
    `${await readFile(config, 'utf8')}gateway: { socketsMax: ${Math.max(1_024, sockets + 100)} }\n`,
  );
  console.log(
    `soak: ${minutes} min, ${lives} lives, ${sockets} sockets (${silent} never read), ${sessions} sessions, ${writers} writers (${pauseMs} ms), seed ${seed}`,
  );
  for (let life = 1; life <= lives; life += 1) {
    victim = await begin(command, scenario.announced).ready;
    const { url, startedAt, readyAt, child } = victim;
    past.push({ url, startedAt, readyAt });
    await scenario.ready(past.at(-1) as Life);
    const { token } = await announcement();
    if (life === 1) await prepare({ url, token, journal, talker, sessions });
    pulse.begin(url);
    const until = performance.now() + (minutes * 60_000) / lives;
    const isOver = (): boolean => performance.now() >= until;
    const working = [
      ...Array.from({ length: writers }, async (_, writer) => {
        while (!isOver() && (await scenario.operation(writer, past.at(-1) as Life))) await wait(pauseMs);
      }),
      keepBusy({ url, token, journal, talker, isOver, life }),
    ];
    const joining = group.join(url, token, isOver);
    while (!isOver()) {
      await wait(Math.min(15_000, Math.max(100, until - performance.now())));
      samples.push(await vitalsOf(child.pid ?? 0, home));
      tell(life);
    }
    group.expectEnd();
    if (life < lives) await end(child, 'SIGKILL'); // while the writers still wait for their answers
    group.leave();
    await Promise.all([...working, joining]);
    group.leave(); // who came while the others left
    pulse.end();
  }
  const last = past.at(-1) as Life;
  await Promise.all(Array.from({ length: writers }, (_, writer) => scenario.finish(writer, last)));
  await scenario.audit(last, past);
  await judgeJobs({ url: last.url, token: (await announcement()).token, journal, talker });
  const code = victim === undefined ? 0 : await end(victim.child, 'SIGTERM');
  if (code !== 0) journal.violated('unexpected', `the last stop ended with exit code ${code}`);
  await scenario.closed(home);
}

async function announcement(): Promise<{ readonly token: string }> {
  return JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
}

function tell(life: number): void {
  const { rssMb, diskMb, files } = samples.at(-1) as Vitals;
  const { open, silentOpen, frames, refused, ended } = group.figures();
  console.log(
    `  life ${life}: ${rssMb} MB, ${diskMb} MB in ${files} files, ${open} + ${silentOpen} sockets (${refused} refused; ended ${listed(ended)}), ` +
      `${frames} frames, ${journal.figure('acknowledged')} acknowledged, healthz 99 % ${shown(0.99)}, worst ${shown(1)}`,
  );
}

const listed = (ended: ReadonlyMap<number, number>): string =>
  [...ended].map((each) => each.join(' × ')).join(', ') || 'none';

function shown(share: number): string {
  return pulse.waitsMs.length === 0 ? '-' : `${Math.round(percentile(pulse.waitsMs, share))} ms`;
}

async function report(): Promise<void> {
  const { frames, repeated, refused, ended } = group.figures();
  if (repeated > 0)
    journal.violated('doubled', `${repeated} frames came again after their cursor had passed`);
  for (const [what, count] of [...journal.figures].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (!violationKinds.some((kind) => kind === what)) console.log(`  ${what.padEnd(44)} ${count}`);
  const rss = samples.map(({ rssMb }) => rssMb);
  console.log(`  memory: most ${Math.max(0, ...rss)} MB; disk at the end: ${samples.at(-1)?.diskMb ?? 0} MB`);
  console.log(`  stalls: healthz half ${shown(0.5)}, 99 % ${shown(0.99)}, worst ${shown(1)}`);
  console.log(`  frames read: ${frames}; sockets refused: ${refused}`);
  console.log(`  ended by the gateway: ${listed(ended)}`);
  console.log(`  ${violationKinds.map((kind) => `${kind} ${journal.figure(kind)}`).join(' · ')}`);
  for (const violation of journal.violations.slice(0, 20)) console.log(`  ! ${violation}`);
  if (journal.violations.length > 0) {
    process.exitCode = 1;
    console.log(`  kept: ${home} and ${journal.file}`);
    return;
  }
  await rm(home, { recursive: true, force: true });
  await rm(journal.file, { force: true });
}

/** How many files a process of this user may have open; Node takes all that it may. */
async function descriptorsMax(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'latin1').catch(() => '');
  const [, hard = '4096'] = /Max open files\s+\S+\s+(\d+)/.exec(limits) ?? [];
  return Number(hard);
}
