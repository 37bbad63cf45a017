import { layoutOf } from '../../../lib/home/layout.js';
import { putBack } from '../../../lib/home/way-back.js';

/**
 * Undoes the migration of a home, or writes into it what was migrated in a copy, and dies by SIGKILL at a step:
 * `node migrate-killed.js undo|apply <home> <step> [copy]`. Ends by itself where there are fewer steps.
 */
const [, , what, home = '', last, copy = ''] = process.argv;
const dieAt = (step: number): void => {
  if (step === Number(last)) process.kill(process.pid, 'SIGKILL');
};
if (what === 'undo') await putBack(layoutOf({ home }), dieAt);
else {
  // what the other way does not need is not loaded
  const { openLevelStore } = await import('../../../lib/store/level.js');
  const { copyRecords } = await import('../../../lib/supervisor/migrate-records.js');
  const from = await openLevelStore({ directory: copy, scrubEveryMs: 0 });
  const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
  let pages = 0;
  await copyRecords(from, store, () => dieAt((pages += 1)), 4);
  await store.close();
  await from.close();
}
