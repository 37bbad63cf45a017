import { openLevelStore } from '../../lib/store/level.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { populate, workItems } from './actors.js';

/** `node boot-home.js <home> <count>`: a home with that many idle work items, cleanly stopped. */
const [, , home, count] = process.argv;
if (home === undefined || count === undefined) throw new TypeError('usage: boot-home.js <home> <count>');
const supervisor = await createSupervisor({
  kinds: [workItems.kind],
  store: await openLevelStore({ directory: home }),
  limits: { awakeActorsMax: 1_000 },
});
await populate(supervisor, workItems, Number(count));
await supervisor.stop();
