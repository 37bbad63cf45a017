import { parseArgs } from 'node:util';
import { fuzz } from './campaign.js';

/**
 * `npm run fuzz -- [--requests 100000] [--seed 1]`: sends requests that are valid by the gateway's own
 * OpenAPI document and then spoiled, and frames on its sockets. Any finding is exit code 1, and the home
 * stays for a look.
 */
const { values } = parseArgs({
  options: { requests: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const numbers = { requests: Number(values.requests), seed: Number(values.seed) };
if (!Object.values(numbers).every((value) => Number.isSafeInteger(value) && value > 0))
  throw new TypeError('--requests and --seed are whole numbers above 0');

const report = await fuzz({ ...numbers, tell: (line) => console.log(`  ${line}`) });
const figure = (what: string, value: string): void => console.log(`  ${what.padEnd(28)} ${value}`);
const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, times]) => `${what} ${times.toLocaleString('en')}`)
    .join(' · ');
console.log('');
figure('seed', String(numbers.seed));
figure(
  'requests',
  `${report.requests.toLocaleString('en')} and ${report.frames.toLocaleString('en')} frames in ${report.seconds.toFixed(0)} s (${Math.round((report.requests + report.frames) / report.seconds)} per second)`,
);
figure('by class', listed(report.classes));
figure('by status', listed(report.statuses));
figure('slowest', `${Math.round(report.slowestMs)} ms`);
figure(
  'routes answered with success',
  `${report.routes - report.unreached.length} of ${report.routes}${report.unreached.length === 0 ? '' : `; not: ${report.unreached.join(', ')}`}`,
);
figure('findings', String(report.findings.length));
for (const { key, detail, times, request } of report.findings)
  console.log(`\n  ! ${key} (${times} times)\n      ${detail}\n      ${request}`);
if (report.findings.length > 0) {
  process.exitCode = 1;
  console.log(`\n  kept: ${report.home}`);
}
