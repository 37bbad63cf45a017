import { system } from '../../machines/caller.js';
import type { ActorKey } from '../../machines/outputs.js';
import type { Kernel } from './kernel.js';
import { Draft } from './draft.js';

/**
 * An ended actor whose time is over goes, with its turn held: record, places, lists and counts in one commit.
 * `due` is the row that said so. Its log stays until the log's own time is over. At its end its effects,
 * timers and children had gone with it: nothing of it can be under way but a fenced effect that still
 * settles, and that has a row of its own.
 */
export function forget(kernel: Kernel, { kind: name, id }: ActorKey, due: string): Promise<void> {
  const kind = kernel.allKinds().find((one) => one.kind === name);
  if (kind?.forgetAfterMs === undefined) return kernel.writeOps([[due, null]]);
  return new Promise((resolve, reject) => {
    kernel.cells.enter(name, id, {
      urgent: true,
      fail: reject,
      run: (cell) => {
        const draft = new Draft(kernel.now(), kernel.steady(), system('kernel'), null, kernel);
        draft.ops.push([due, null]);
        const { live } = cell;
        const ended = live !== undefined && live.snapshot.status !== 'active';
        if (ended) draft.forget(kind, id, live);
        kernel.commit(draft, [cell], (error) => {
          if (error !== undefined) return reject(error as Error);
          if (ended)
            kernel.cells.adopt(name, id, undefined, (problem) =>
              kernel.fault(`an observer of ${name} ${id} threw`, problem),
            );
          resolve();
        });
      },
    });
  });
}
