import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Coverage } from './coverage.js';
import type { Outcome } from './history.js';
import type { Report } from './report.js';

/**
 * Histories in several processes: each plays every n-th seed and passes on what it came to. They share nothing, so
 * an outcome is the same as in one process.
 */
export async function inProcesses(
  jobs: number,
  { first, count, plant, world }: { first: number; count: number; plant: string | undefined; world: string },
  report: Report,
): Promise<void> {
  const main = fileURLToPath(new URL('./main.js', import.meta.url));
  await Promise.all(
    Array.from({ length: jobs }, async (_, n) => {
      const seeds = ['--from', String(first + n), '--seeds', String(count - n), '--every', String(jobs)];
      const child = fork(main, [
        ...seeds,
        '--world',
        world,
        ...(plant === undefined ? [] : ['--plant', plant]),
      ]);
      child.on('message', (message) => {
        const { met, seconds, ...outcome } = message as Message;
        const coverage = new Coverage();
        for (const [cell, times] of met) coverage.met.set(cell, times);
        report.add({ ...outcome, coverage });
        report.seconds += seconds;
      });
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0) report.failed ||= 1;
    }),
  );
}

export const isChild = process.send !== undefined;

export function passOn({ coverage, ...outcome }: Outcome, seconds: number): void {
  process.send?.({ ...outcome, met: [...coverage.met], seconds } satisfies Message);
}

type Message = Omit<Outcome, 'coverage'> & {
  readonly met: readonly [cell: string, times: number][];
  readonly seconds: number;
};
