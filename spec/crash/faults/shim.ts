import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const source = fileURLToPath(new URL('../../../../spec/crash/faults/shim.c', import.meta.url));

export type FaultMode = 'fail' | 'before' | 'in' | 'after';

/** What is to happen to one operation of a process on the disk. */
export interface Fault {
  /** Which one, from 1; 0: none, all are listed in `log`. */
  readonly at: number;
  readonly mode: FaultMode;
  /** Operations beneath this folder count. */
  readonly under: string;
  /** Gets a line of the operation that was struck. */
  readonly log: string;
}

/**
 * Builds the shim with the system's C compiler into `folder`. Its path, or the sentence that says why this machine
 * cannot have it.
 */
export async function buildShim(
  folder: string,
): Promise<{ readonly path: string } | { readonly why: string }> {
  if (process.platform !== 'linux')
    return { why: `faults are injected on Linux only, this is ${process.platform}` };
  const path = join(folder, 'shim.so');
  try {
    await promisify(execFile)('cc', ['-O1', '-shared', '-fPIC', '-w', '-o', path, source, '-ldl']);
    return { path };
  } catch (error) {
    const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string };
    return {
      why: code === 'ENOENT' ? 'there is no C compiler (cc)' : `cc failed: ${stderr ?? String(error)}`,
    };
  }
}

/** The environment that lets a process meet the fault. Not through io_uring, which no shim sees. */
export const environmentOf = (
  shim: string,
  { at, mode, under, log }: Fault,
): Readonly<Record<string, string>> => ({
  LD_PRELOAD: shim,
  UV_USE_IO_URING: '0',
  FAULT_AT: String(at),
  FAULT_MODE: mode,
  FAULT_UNDER: under,
  FAULT_LOG: log,
});
