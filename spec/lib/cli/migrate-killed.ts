import { layoutOf } from '../../../lib/home/layout.js';
import { putBack } from '../../../lib/home/way-back.js';

/**
 * Undoes or migrates a home, and dies by SIGKILL at a step: `node migrate-killed.js undo|apply <home> <step>`. Ends by
 * itself where there are fewer steps.
 */
const [, , what, home = '', last] = process.argv;
const dieAt = (step: number): void => {
  if (step === Number(last)) process.kill(process.pid, 'SIGKILL');
};
if (what === 'undo') await putBack(layoutOf({ home }), dieAt);
else {
  // what the other way does not need is not loaded
  const { builtInKinds } = await import('../../../lib/cli/built-in-kinds.js');
  const { openLevelStore } = await import('../../../lib/store/level.js');
  const { migrateRecords } = await import('../../../lib/supervisor/migrate-records.js');
  const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
  let pages = 0;
  const onProgress = (): void => dieAt((pages += 1));
  await migrateRecords(store, builtInKinds(), { now: Date.now, pageSize: 4, onProgress });
  await store.close();
}
