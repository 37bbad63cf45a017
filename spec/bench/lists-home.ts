import { workItemKind } from '../../actors/work-item/kind.js';
import { openLevelStore } from '../../lib/store/level.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { inFlight } from './measure.js';

/**
 * `node lists-home.js <home> <count>`: a home with that many work items of 30 people in 6 departments; half
 * of them moved on.
 */
const [, , home, count] = process.argv;
if (home === undefined || count === undefined) throw new TypeError('usage: lists-home.js <home> <count>');
const statuses = ['executing', 'in_review', 'blocked', 'done', 'escalated'] as const;
const sources = ['human', 'session', 'cron'] as const;
const size = Number(count);
const lanes = 128;
const supervisor = await createSupervisor({
  kinds: [workItemKind()],
  store: await openLevelStore({ directory: home }),
});
await inFlight(lanes, size, async (lane, turn) => {
  const n = turn * lanes + lane + 1;
  await supervisor.spawn('work-item', {
    id: `TRP-${n}`,
    input: {
      title: `Work number ${n}`,
      body: `What is said everywhere about item ${n}: ${'x'.repeat(80)}`,
      acceptance: null,
      verifyPolicy: null,
      sourceRef: null,
      createdBy: 'operator',
      assignee: n % 3 === 0 ? null : `p${n % 30}`,
      department: n % 4 === 0 ? null : `d${n % 6}`,
      source: sources[n % 3] ?? 'human',
    },
  });
});
await inFlight(lanes, size / 2, async (lane, turn) => {
  const n = (turn * lanes + lane) * 2 + 1;
  await supervisor.ask('work-item', `TRP-${n}`, {
    type: 'item.move',
    status: statuses[n % 5] ?? 'done',
    note: 'because',
  });
});
await supervisor.stop();
