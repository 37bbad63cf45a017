import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { started, type Start } from './boot.js';
import { median, withHome, type Measure } from './measure.js';

/** Ten thousand cron jobs: made embedded, and what they cost a gateway that starts with them. */
export const cron: Measure = {
  name: 'cron',
  about: 'many cron jobs',
  async run({ rounds, size = 10_000 }) {
    return withHome((empty) =>
      withHome(async (large) => {
        const made = Number(
          (
            await promisify(execFile)(process.execPath, [
              fileURLToPath(new URL('cron-home.js', import.meta.url)),
              large,
              String(size),
            ])
          ).stdout,
        );
        const none: Start[] = [];
        const many: Start[] = [];
        for (let round = 0; round < rounds; round += 1) {
          none.push(await started(empty, 'SIGTERM'));
          many.push(await started(large, 'SIGTERM'));
        }
        const beyond = (member: 'ms' | 'rssMb'): number =>
          median(many.map((start) => start[member])) - median(none.map((start) => start[member]));
        const jobs = size.toLocaleString('en');
        return [
          {
            name: `${jobs} jobs made, 64 in flight, embedded`,
            value: made,
            unit: '/s',
            target: { atLeast: 2_000 },
          },
          {
            name: `ready with ${jobs} jobs, beyond ready with none`,
            value: beyond('ms'),
            unit: 'ms',
            target: { atMost: 100 },
          },
          {
            name: `RSS with ${jobs} jobs, beyond none`,
            value: beyond('rssMb'),
            unit: 'MB',
            target: { atMost: 30 },
          },
        ];
      }),
    );
  },
};
