import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreFiles } from '../../../lib/store/level.js';

/** Where in the way of a group the disk fails, once. */
export interface Fault {
  readonly at: 'append' | 'apply';
  /** `before`: nothing is done. `partial`: half the frame lies in the file. `whole`: all of it does, but the disk says no. `after`: the database took it, but says no. */
  readonly how: 'before' | 'partial' | 'whole' | 'after';
  /** What the failure looks like; a full disk by default. */
  readonly error?: Error;
  /** How often the disk refuses the clean-up too. */
  readonly cleanUpFails?: number;
  /** Called at the very moment, as a kill would come. */
  readonly onFault?: () => Promise<void>;
}

/** Stands between a store and its files and fails as told. `armed` is the fault to come. */
export function failingFiles(home: string): { armed: Fault | undefined; readonly intercept: (files: StoreFiles) => StoreFiles; release(): Promise<void> } {
  let cleanUps = 0;
  let inner: StoreFiles['writer'] | undefined;
  const control = {
    armed: undefined as Fault | undefined,
    /** Close the file that a clean-up which was made to fail left open. */
    release: async () => inner?.close(),
    intercept: ({ database, writer }: StoreFiles): StoreFiles => ((inner = writer), {
      database: {
        ...database,
        async apply(groups, position) {
          const fault = take('apply');
          if (fault?.how === 'after') await database.apply(groups, position);
          if (fault) await fail(fault);
          await database.apply(groups, position);
        },
      },
      writer: {
        get place() {
          return writer.place;
        },
        async append(frames, frame) {
          const fault = take('append');
          if (fault) {
            const part = fault.how === 'before' ? 0 : fault.how === 'partial' ? frames.length >> 1 : frames.length;
            const file = await open(join(home, 'store-copy', writer.place.segment), 'r+');
            await file.write(frames, 0, part, writer.place.offset);
            await file.close();
            await fail(fault);
          }
          return writer.append(frames, frame);
        },
        async abandon() {
          cleanUps -= 1;
          if (cleanUps >= 0) throw diskFull();
          await writer.abandon();
        },
        close: () => writer.close(),
      },
    }),
  };
  return control;

  function take(at: Fault['at']): Fault | undefined {
    const fault = control.armed;
    if (fault?.at !== at) return undefined;
    control.armed = undefined;
    return fault;
  }

  async function fail(fault: Fault): Promise<never> {
    cleanUps = fault.cleanUpFails ?? 0;
    await fault.onFault?.();
    throw fault.error ?? diskFull();
  }
}

function diskFull(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}
