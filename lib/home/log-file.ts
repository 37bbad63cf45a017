import { lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { pino } from 'pino';

/**
 * A log file that is put aside when it is full: `gateway.log` becomes `gateway.log.1`, that becomes `.2`, and
 * the last one goes. The full file is renamed while it is open, and what is being written at that moment
 * still goes into it, so no line is lost and none is torn. Readable by the owner only.
 */
export interface LogFileOptions {
  /** The file is put aside at the first write that reaches this size. */
  readonly bytesMax: number;
  /** Files that are kept beside the current one; 0 keeps none. */
  readonly kept: number;
}

export type LogFile = ReturnType<typeof pino.destination> & {
  /** False where the file could not be made: `write` throws then. */
  isOpen(): boolean;
  /** Write out what is buffered, as far as the disk takes it. */
  close(): Promise<void>;
};

/**
 * `const file = openLogFile(layout.log, {bytesMax: 2 ** 24, kept: 5}); file.write('a line\n'); await file.close()`
 */
export function openLogFile(path: string, { bytesMax, kept }: LogFileOptions): LogFile {
  let bytes = 0;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    bytes = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    // Then the file cannot be made either, which is no reason to fail with its first line
  }
  if (bytes >= bytesMax) putAside();
  // Bounded: a disk that hangs must not fill the memory. Beyond that, lines are dropped.
  const file = pino.destination({
    dest: path,
    mode: 0o600,
    sync: false,
    minLength: 0,
    maxLength: waitingBytesMax,
  });
  // A full disk or a folder that went away must not take the gateway down with its log.
  let isReady = false;
  let isOpen = true;
  file.on('ready', () => (isReady = true));
  file.on('error', () => (isOpen = isReady));
  file.on('write', (written: number) => {
    bytes += written;
    if (bytes >= bytesMax && putAside()) file.reopen();
  });
  return Object.assign(file, {
    isOpen: () => isOpen,
    close: () =>
      new Promise<void>((resolve) => {
        file.once('close', resolve);
        // What was never open is said to be closed, so that it is not written out at the end of the process either
        const giveUp = (): void => void (isOpen ? file.destroy() : file.emit('close'));
        // Where a line cannot be written, `end` waits for ever, and a gateway that could not start never ends
        file.once('error', giveUp);
        if (isOpen) file.end();
        else giveUp();
      }),
  });

  function putAside(): boolean {
    bytes = 0; // when it cannot be put aside it is tried again a whole file later
    try {
      // It was already, and the new one is not open yet
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
      rmSync(`${path}.${kept}`, { force: true });
      for (let n = kept - 1; n >= 1; n -= 1) move(`${path}.${n}`, `${path}.${n + 1}`);
      if (kept > 0) move(path, `${path}.1`);
      else rmSync(path, { force: true });
      return true;
    } catch {
      return false;
    }
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

const waitingBytesMax = 2 ** 24;
