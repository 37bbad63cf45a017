import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import { openKnowledge, type Knowledge } from '../../lib/records/knowledge/knowledge.js';
import { systemEnvironment } from '../../lib/environment.js';
import {
  collectGarbage,
  inFlight,
  percentile,
  timed,
  withHome,
  type Figure,
  type Measure,
} from './measure.js';

/**
 * Knowledge search over 100,000 Markdown files, half of them in one flat folder, half in a tree: how long the
 * first reading takes, what it costs, how fast questions are answered at rest and while files change, and how
 * soon a change is found. A stall is the longest time the event loop was held.
 */
export const knowledge: Measure = {
  name: 'knowledge',
  about: 'search over 100,000 Markdown files, at rest and while they change',
  run: ({ size = 100_000 }) =>
    withHome(async (home) => {
      const files = await populate(home, size);
      const figures: Figure[] = [];
      const delay = monitorEventLoopDelay({ resolution: 1 });
      const stall = (name: string, histogram: IntervalHistogram): Figure => ({
        name,
        value: histogram.max / 1e6,
        unit: 'ms',
        target: { atMost: 50 },
      });

      collectGarbage();
      const before = process.memoryUsage();
      delay.enable();
      const known = openKnowledge({ home, environment: systemEnvironment() });
      try {
        const built = await timed(() => known.library.ready(3_600_000));
        delay.disable();
        figures.push(
          { name: 'first reading', value: built / 1_000, unit: 's' },
          stall('longest stall of the first reading', delay),
        );
        collectGarbage();
        const after = process.memoryUsage();
        figures.push({
          name: 'memory of the index',
          value: (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 2 ** 20,
          unit: 'MiB',
          note: `${files.length} files`,
        });

        for (const { about, ask } of questions) figures.push(await asked(known, about, ask, 200));
        figures.push(
          await asked(
            known,
            'all of them in turn',
            (n) => (questions[n % questions.length] as Question).ask(n),
            1_000,
          ),
        );

        delay.reset();
        delay.enable();
        let changing = true;
        const changes = change(files, () => changing);
        figures.push(
          await asked(
            known,
            'all of them, while 200 files a second change',
            (n) => (questions[n % questions.length] as Question).ask(n),
            1_500,
          ),
        );
        changing = false;
        await changes;
        delay.disable();
        figures.push(stall('longest stall while files change and questions are asked', delay));

        const waits: number[] = [];
        for (let n = 0; n < 10; n += 1)
          waits.push(await untilFound(known, files[(n * 9_973) % files.length] as string, `marker${n}of10`));
        figures.push({
          name: 'a change is found after',
          value: percentile(waits, 0.99),
          unit: 'ms p99',
          target: { atMost: 1_000 },
        });
        const spent = process.cpuUsage();
        figures.push({
          name: 'a look at everything, nothing changed',
          value: (await timed(() => known.library.refresh())) / 1_000,
          unit: 's',
          note: `${(sum(process.cpuUsage(spent)) / 1e6).toFixed(1)} s of processor`,
        });
      } finally {
        await known.close();
      }
      return figures;
    }),
};

interface Question {
  readonly about: string;
  ask(n: number): string;
}

const questions: readonly Question[] = [
  { about: 'a rare word', ask: (n) => wordOf(4_000 + ((n * 37) % 30_000)) },
  { about: 'a word of every document', ask: (n) => wordOf(n % 3) },
  { about: 'two usual words', ask: (n) => `${wordOf(n % 20)} ${wordOf(20 + (n % 50))}` },
  { about: 'five usual words', ask: (n) => [1, 2, 3, 4, 5].map((one) => wordOf((n * one) % 200)).join(' ') },
  { about: 'three letters of many words', ask: (n) => ['mar', 'ter', 'lin', 'son', 'ber'][n % 5] as string },
  { about: 'a word that is nowhere', ask: (n) => `nowhere${n}` },
];

async function asked(
  known: Knowledge,
  about: string,
  ask: (n: number) => string,
  times: number,
): Promise<Figure> {
  const latencies: number[] = [];
  const before = process.cpuUsage();
  for (let n = 0; n < times; n += 1) latencies.push(await timed(() => known.search(ask(n))));
  const cpuMs = sum(process.cpuUsage(before)) / 1_000 / times;
  return {
    name: about,
    value: percentile(latencies, 0.99),
    unit: 'ms p99',
    target: { atMost: 20 },
    note: `p50 ${percentile(latencies, 0.5).toFixed(1)} ms, ${cpuMs.toFixed(1)} ms of processor each`,
  };
}

/** Texts of some 150 words, of which few are usual and most are rare, as in what people write. */
async function populate(home: string, size: number): Promise<readonly string[]> {
  const files: string[] = [];
  for (let n = 0; n < size; n += 1)
    files.push(
      n % 2 === 0
        ? join(home, 'docs', `note-${n}.md`)
        : join(home, 'knowledge', `team-${n % 40}`, `topic-${n % 1_000}`, `page-${n}.md`),
    );
  for (const folder of new Set(files.map((file) => join(file, '..'))))
    await mkdir(folder, { recursive: true });
  await inFlight(32, size, (lane, turn) => {
    const n = turn * 32 + lane;
    return n < size ? writeFile(files[n] as string, textOf(n)) : Promise.resolve();
  });
  return files;
}

async function change(files: readonly string[], goOn: () => boolean): Promise<void> {
  for (let n = 0; goOn(); n += 1) {
    const file = files[(n * 7_919) % files.length] as string;
    if (n % 10 === 0) await rm(file, { force: true });
    else await writeFile(file, textOf(n + 1));
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

async function untilFound(known: Knowledge, file: string, marker: string): Promise<number> {
  return timed(async () => {
    await writeFile(file, `# A change\n${marker}`);
    for (let found = 0; found === 0;) {
      const answer = await known.search(marker);
      found = 'results' in answer ? answer.results.length : 0;
      if (found === 0)
        await new Promise((resolve) => {
          setTimeout(resolve, 5);
        });
    }
  });
}

const textOf = (n: number): string => {
  const words = [`# Note ${n}`, ''];
  let seed = n + 1;
  for (let word = 0; word < 150; word += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    words.push(wordOf(Math.floor(40_000 ** (seed / 2_147_483_648)) - 1));
  }
  return words.join(' ');
};

/** 40,000 words of two to four syllables. */
const syllables = [
  'mar',
  'ter',
  'lin',
  'son',
  'ber',
  'ka',
  'do',
  'vel',
  'thi',
  'ro',
  'nes',
  'pu',
  'gra',
  'mi',
  'tol',
  'sha',
];
function wordOf(n: number): string {
  let word = '';
  for (let rest = n + 16; rest > 0; rest = Math.floor(rest / 16)) word += syllables[rest % 16] as string;
  return word;
}

const sum = ({ user, system }: { readonly user: number; readonly system: number }): number => user + system;
