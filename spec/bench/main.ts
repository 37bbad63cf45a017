import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { boot } from './boot.js';
import { cold } from './cold.js';
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
import { sessions } from './sessions.js';
import { workflow } from './workflow.js';
import { watch } from './watch.js';

/**
 * `npm run bench -- [name…] [--rounds 3] [--size N] [--strict]`: all measures, or those named. Prints a table as it
 * goes and one line of JSON at the end. Ratios compare neighbours within one run; absolute figures belong to the
 * machine. With `--strict` a missed target is exit code 1.
 */
const measures: readonly Measure[] = [events, hot, http, cold, boot, memory, growth, lists, knowledge, watch, loris, sessions, engines, workflow, parked, cron, page];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' }, size: { type: 'string' }, strict: { type: 'boolean', default: false } },
});
const unknown = positionals.find((name) => !measures.some((measure) => measure.name === name));
if (unknown !== undefined) {
  console.error(`There is no measure "${unknown}". Known: ${measures.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

const results: { readonly measure: string; readonly figures: readonly Figure[] }[] = [];
for (const measure of measures.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  console.log(`\n${measure.name}: ${measure.about}`);
  const figures = await measure.run({ rounds: Number(values.rounds), ...(values.size === undefined ? {} : { size: Number(values.size) }) });
  for (const figure of figures) console.log(line(figure));
  results.push({ measure: measure.name, figures });
}
console.log(`\n${JSON.stringify({ at: new Date().toISOString(), node: process.version, cpus: cpus().length, results })}`);
if (values.strict && results.some(({ figures }) => !figures.every(holds))) process.exitCode = 1;

function line(figure: Figure): string {
  const { name, value, unit, target, note } = figure;
  const wish = target === undefined ? '' : 'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
  const verdict = target === undefined ? '' : holds(figure) ? 'holds' : 'MISSED';
  return `  ${name.padEnd(56)} ${shown(value).padStart(10)} ${unit.padEnd(9)} ${wish.padEnd(8)} ${verdict.padEnd(6)} ${note ?? ''}`.trimEnd();
}

function shown(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
