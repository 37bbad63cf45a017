import { basename } from 'node:path';
import type { Database } from '../../../lib/store/database.js';
import { nodeFiles, type OpenFile, type OpenMode, type StoreFiles } from '../../../lib/store/files.js';
import { storePorts, type StorePorts } from '../../../lib/store/ports.js';

/** Where in the way of a group the disk fails, once. */
export interface Fault {
  readonly at: 'append' | 'apply';
  /**
   * `before`: nothing is done. `partial`: half the frame lies in the file. `whole`: all of it does, but the
   * disk says no. `after`: the database took it, but says no.
   */
  readonly how: 'before' | 'partial' | 'whole' | 'after';
  /** What the failure looks like; a full disk by default. */
  readonly error?: Error;
  /** How often the disk refuses the clean-up too. */
  readonly cleanUpFails?: number;
  /** Called at the very moment, as a kill would come. */
  readonly onFault?: () => Promise<void>;
}

/** Stands below a store, over the real disk and the real LevelDB, and fails as told. */
export interface FailingPorts {
  /** The fault to come. */
  armed: Fault | undefined;
  /** Let the clean-up succeed from now on. */
  repair(): void;
  readonly ports: Pick<StorePorts, 'files' | 'openDatabase'>;
}

/** `openLevelStore({ directory, ports: failingPorts().ports })` */
export function failingPorts(): FailingPorts {
  let cleanUps = 0;
  const real = storePorts();

  const take = (at: Fault['at']): Fault | undefined => {
    const fault = control.armed;
    if (fault?.at !== at) return undefined;
    control.armed = undefined;
    return fault;
  };
  const fail = async (fault: Fault): Promise<never> => {
    cleanUps = fault.cleanUpFails ?? 0;
    await fault.onFault?.();
    throw fault.error ?? diskFull();
  };

  const segment = (file: OpenFile, mode: OpenMode): OpenFile => ({
    ...file,
    async write(bytes, position) {
      const fault = mode === 'log' ? take('append') : undefined;
      if (fault) {
        const part = { before: 0, partial: bytes.length >> 1, whole: bytes.length, after: bytes.length }[
          fault.how
        ];
        await file.write(bytes.subarray(0, part), position);
        await fail(fault);
      }
      await file.write(bytes, position);
    },
    async truncate(length) {
      cleanUps -= 1;
      if (cleanUps >= 0) throw diskFull();
      await file.truncate(length);
    },
  });
  const files: StoreFiles = {
    ...nodeFiles,
    async open(path, mode) {
      const file = await nodeFiles.open(path, mode);
      return basename(path).startsWith('segment-') && mode !== 'read' ? segment(file, mode) : file;
    },
  };
  const control: FailingPorts = {
    armed: undefined,
    repair: () => void (cleanUps = 0),
    ports: {
      files,
      async openDatabase(directory, options) {
        const database = await real.openDatabase(directory, options);
        return {
          ...database,
          async apply(frames, position) {
            const fault = frames.length > 0 ? take('apply') : undefined;
            if (fault?.how === 'after') await database.apply(frames, position);
            if (fault) await fail(fault);
            await database.apply(frames, position);
          },
        } satisfies Database;
      },
    },
  };
  return control;
}

function diskFull(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}
