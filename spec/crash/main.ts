import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { campaign, shownReady, type Scenario } from './campaign.js';
import { gatewayScenario } from './gateway.js';
import { Journal, violationKinds } from './journal.js';
import { kernelScenario } from './kernel.js';

// `npm run crash -- faults …` is another way to break it, with options of its own
if (process.argv[2] === 'faults') {
  await import('./faults/main.js');
  process.exit();
}
// So is `npm run crash -- cluster …`: several nodes, one home in PostgreSQL
if (process.argv[2] === 'cluster') await import('./cluster/main.js');

// And so is `npm run crash -- migrations …`: an upgrade of many actors, killed
if (process.argv[2] === 'migrations') await import('./migrations.js');

/**
 * `npm run crash -- [--rounds 50] [--seed 1] [--writers 16] [--mode gateway|kernel]`: kills the real process
 * at random moments and audits what it had acknowledged. Both modes by default, half of the rounds each. Any
 * violation is exit code 1, and the home and the auditor's journal stay for a look.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    writers: { type: 'string', default: '16' },
    mode: { type: 'string' },
  },
});
const numbers = { rounds: Number(values.rounds), seed: Number(values.seed), writers: Number(values.writers) };
if (!Object.values(numbers).every((value) => Number.isSafeInteger(value) && value > 0))
  throw new TypeError('--rounds, --seed and --writers are whole numbers above 0');
const modes: Readonly<Record<string, (journal: Journal, seed: number) => Promise<Scenario>>> = {
  gateway: (journal, seed) => gatewayScenario(journal, seed),
  kernel: kernelScenario,
};
if (values.mode !== undefined && modes[values.mode] === undefined)
  throw new TypeError(`--mode is one of ${Object.keys(modes).join(', ')}`);
const wanted = Object.entries(modes).filter(([name]) => values.mode === undefined || values.mode === name);

const beside = fileURLToPath(new URL('../../', import.meta.url));
for (const [name, make] of wanted) {
  const home = await mkdtemp(join(beside, `.crash-${name}-`));
  const journal = new Journal(`${home}.jsonl`);
  const rounds = Math.ceil(numbers.rounds / wanted.length);
  const began = performance.now();
  console.log(`\n${name}: ${rounds} rounds, seed ${numbers.seed}, ${numbers.writers} writers`);
  let ready = '-';
  try {
    const { readyMs, auditMs } = await campaign(await make(journal, numbers.seed), {
      ...numbers,
      rounds,
      home,
      journal,
    });
    ready = `${shownReady(readyMs)}; audit ${Math.round(auditMs)} ms`;
  } catch (error) {
    journal.violated('unexpected', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const seconds = (performance.now() - began) / 1000;
  for (const [what, count] of [...journal.figures].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (!violationKinds.some((kind) => kind === what))
      console.log(`  ${what.padEnd(44)} ${count.toLocaleString('en').padStart(10)}`);
  console.log(`  ${'ready after a start'.padEnd(44)} ${ready}`);
  console.log(
    `  ${violationKinds.map((kind) => `${kind} ${journal.figure(kind)}`).join(' · ')}  (${seconds.toFixed(0)} s)`,
  );
  if (journal.violations.length === 0) {
    await rm(home, { recursive: true, force: true });
    await rm(journal.file, { force: true });
    continue;
  }
  process.exitCode = 1;
  for (const violation of journal.violations.slice(0, 20)) console.log(`  ! ${violation}`);
  console.log(`  kept: ${home} and ${journal.file}`);
}
