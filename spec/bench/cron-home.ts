import { cronFireKind } from '../../actors/cron-fire/kind.js';
import { scheduleKind } from '../../actors/schedule/kind.js';
import type { AtLeastOnceEffect, Kind } from '../../actors/contracts.js';
import { openLevelStore } from '../../lib/store/level.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { mustHold } from './actors.js';
import { inFlight } from './measure.js';

/**
 * `node cron-home.js <home> <count>`: a home with that many cron jobs, none due for hours, made 64 at a time;
 * prints jobs per second.
 */
const [, , home, count] = process.argv;
if (home === undefined || count === undefined) throw new TypeError('usage: cron-home.js <home> <count>');
const idle: AtLeastOnceEffect<unknown, never> = {
  guarantee: 'at-least-once',
  run: () => Promise.reject(new Error('no job is due')),
};
const supervisor = await createSupervisor({
  kinds: [scheduleKind() as unknown as Kind, cronFireKind({ launch: idle, record: idle }) as unknown as Kind],
  store: await openLevelStore({ directory: home }),
}); // a list of kinds forgets the type of each one's machine
const hour = (new Date().getUTCHours() + 12) % 24;
const began = performance.now();
await inFlight(64, Number(count), async (lane, turn) => {
  const n = turn * 64 + lane;
  mustHold(
    await supervisor.spawn('schedule', {
      id: `job-${n}`,
      input: {
        name: `Job ${n}`,
        enabled: true,
        schedule: `${n % 60} ${hour} * * *`,
        timezone: 'Europe/Berlin',
        zone: 'Europe/Berlin',
        engine: null,
        model: null,
        effortLevel: null,
        employee: null,
        prompt: 'digest',
        delivery: null,
        missed: 'skip',
        managedBy: null,
        workflowId: null,
      },
    }),
  );
});
console.log(Math.round((Number(count) / (performance.now() - began)) * 1000));
await supervisor.stop();
