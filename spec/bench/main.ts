import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nodeFlags } from '../../lib/cli/service/manager.js';
import { boot } from './boot.js';
import { cold } from './cold.js';
import { consolePage } from './console-page.js';
import { confine } from './confine.js';
import { engines } from './engines.js';
import { cron } from './cron.js';
import { events } from './events.js';
import { growth } from './growth.js';
import { hot } from './hot.js';
import { http } from './http.js';
import { knowledge } from './knowledge.js';
import { lists } from './lists.js';
import { holds, type Figure, type Measure } from './measure.js';
import { loris } from './loris.js';
import { memory } from './memory.js';
import { page } from './page.js';
import { parked } from './parked.js';
import { rest } from './rest.js';
import { sessions } from './sessions.js';
import { sockets } from './sockets.js';
import { stores } from './stores.js';
import { worker } from './worker.js';
import { workflow } from './workflow.js';
import { watch } from './watch.js';

/**
 * `npm run bench -- [name…] [--rounds 3] [--size N] [--strict]`: all measures, or those named, each in a process of its
 * own: without V8 flags, as an embedding program runs, and with those of the command `troupe`. Prints a table as it
 * goes and one line of JSON at the end. Ratios compare neighbours within one run; absolute figures
 * belong to the machine. With `--strict` a missed target is exit code 1.
 */
const measures: readonly Measure[] = [
  events,
  hot,
  http,
  cold,
  boot,
  rest,
  stores,
  memory,
  growth,
  lists,
  knowledge,
  watch,
  sockets,
  loris,
  sessions,
  engines,
  confine,
  worker,
  workflow,
  parked,
  cron,
  page,
  consolePage,
];

/** Some measures look at the heap when nothing is left to be collected. */
const memoryFlag = '--expose-gc';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    size: { type: 'string' },
    strict: { type: 'boolean', default: false },
  },
});
const unknown = positionals.find((name) => !measures.some((measure) => measure.name === name));
if (unknown !== undefined) {
  console.error(`There is no measure "${unknown}". Known: ${measures.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

type Result = { readonly measure: string; readonly flags: string; readonly figures: readonly Figure[] };
const chosen = measures.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const [only] = chosen;
if (process.send === undefined || only === undefined) {
  const results: Result[] = [];
  for (const { name } of chosen) for (const flags of [[], nodeFlags]) results.push(await apart(name, flags));
  conclude(results);
} else {
  const flags = process.execArgv.filter((flag) => flag !== memoryFlag).join(' ');
  console.log(`\n${only.name}: ${only.about}; ${flags === '' ? 'no V8 flags' : flags}`);
  const figures = await only.run({
    rounds: Number(values.rounds),
    ...(values.size === undefined ? {} : { size: Number(values.size) }),
  });
  for (const figure of figures) console.log(line(figure));
  process.send({ measure: only.name, flags, figures } satisfies Result);
}

/**
 * A measure in a process of its own: what another one has left in the heap and in compiled code would be
 * measured too.
 */
async function apart(name: string, flags: readonly string[]): Promise<Result> {
  const child = fork(
    fileURLToPath(import.meta.url),
    [name, '--rounds', values.rounds, ...(values.size === undefined ? [] : ['--size', values.size])],
    { execArgv: [memoryFlag, ...flags] },
  );
  const ended = once(child, 'exit');
  const [result] = await Promise.race([
    once(child, 'message') as Promise<[Result]>,
    ended.then(([code]) => {
      throw new Error(`the measure "${name}" ended with ${String(code)}`);
    }),
  ]);
  child.disconnect();
  await ended;
  return result;
}

function conclude(results: readonly Result[]): void {
  console.log(
    `\n${JSON.stringify({ at: new Date().toISOString(), node: process.version, cpus: cpus().length, results })}`,
  );
  if (values.strict && results.some(({ figures }) => !figures.every(holds))) process.exitCode = 1;
}

function line(figure: Figure): string {
  const { name, value, unit, target, note } = figure;
  const wish = target === undefined ? '' : 'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
  const verdict = target === undefined ? '' : holds(figure) ? 'holds' : 'MISSED';
  return `  ${name.padEnd(56)} ${shown(value).padStart(10)} ${unit.padEnd(9)} ${wish.padEnd(8)} ${verdict.padEnd(6)} ${note ?? ''}`.trimEnd();
}

function shown(value: number): string {
  return value >= 1000
    ? Math.round(value).toLocaleString('en')
    : value >= 100
      ? value.toFixed(0)
      : value.toFixed(2);
}
