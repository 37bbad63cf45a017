import { constants, fdatasync, write as writeAt } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, realpath, rename, rm, stat, statfs } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/**
 * The port through which the store reaches the disk: every file but LevelDB's own goes through here, and nothing
 * else in this folder imports `node:fs`. So a test or a simulation can stand below all of it, fail any call, and
 * keep what was flushed apart from what was only written.
 *
 * Nothing is durable before it was synced: a file's bytes by `sync` (or by a file opened as `log`), the names in
 * a folder, and so a file made, renamed or removed, by `syncDirectory`. Errors carry Node's codes (`ENOENT`,
 * `ENOSPC`, …).
 */
export interface StoreFiles {
  open(path: string, mode: OpenMode): Promise<OpenFile>;
  /** The names in a folder, in no order. */
  readdir(directory: string): Promise<string[]>;
  /** The bytes of a file (of a folder: some number); ENOENT where it is not there. */
  size(path: string): Promise<number>;
  /** With every folder above it that is missing; only the owner may enter. No error where it is there. */
  mkdir(directory: string): Promise<void>;
  /** Replaces a file that has the name already. */
  rename(from: string, to: string): Promise<void>;
  /** A file, or a folder with all that is in it. No error where it is not there. */
  remove(path: string): Promise<void>;
  copyFile(from: string, to: string): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  /** Make the names in a folder durable. */
  syncDirectory(directory: string): Promise<void>;
  /** The one path of a folder, however it was spelled. */
  realpath(path: string): Promise<string>;
  /** Bytes that this process may still write on the disk of a folder. */
  freeBytes(directory: string): Promise<number>;
}

/**
 * `read`: must exist. `new`: written from scratch, whatever was there. `existing`: read and write, must exist.
 * `log`: read and write, made where it is missing, and what `write` wrote is durable when it resolves (not the
 * length that `truncate` set: that needs a `sync`).
 */
export type OpenMode = 'read' | 'new' | 'existing' | 'log';

/** One open file. Reads and writes name their place; there is no current position. */
export interface OpenFile {
  size(): Promise<number>;
  /** Fill the buffer from `position` on. Answers how many bytes there were; fewer only at the end of the file. */
  read(buffer: Buffer, position: number): Promise<number>;
  /** All of the bytes, or an error. After an error any part of them may lie in the file. */
  write(bytes: Buffer, position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Whether anything is there. */
export function exists(files: StoreFiles, path: string): Promise<boolean> {
  return files.size(path).then(
    () => true,
    () => false,
  );
}

/** The names in a folder that may be missing. One that cannot be read is not taken for one that is not there. */
export async function namesIn(files: StoreFiles, directory: string): Promise<string[]> {
  try {
    return await files.readdir(directory);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** There is no such file, or none any more. */
export function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** The real disk. */
export const nodeFiles: StoreFiles = {
  open: async (path, mode) => openFile(await open(path, flags[mode], 0o600), mode === 'log'),
  readdir: (directory) => readdir(directory),
  size: async (path) => (await stat(path)).size,
  mkdir: async (directory) => void (await mkdir(directory, { recursive: true, mode: 0o700 })),
  rename,
  remove: (path) => rm(path, { recursive: true, force: true }),
  copyFile,
  chmod,
  async syncDirectory(directory) {
    // Windows cannot open a folder; its renames are journalled by the file system.
    if (process.platform === 'win32') return;
    const handle = await open(directory, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  realpath: (path) => realpath(path),
  async freeBytes(directory) {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  },
};

/** Linux makes the data durable within the write; elsewhere the flag is missing or weaker than an fdatasync. */
const durableWrites = process.platform === 'linux' ? constants.O_DSYNC : 0;

const flags: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY,
  new: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
  existing: constants.O_RDWR,
  log: constants.O_RDWR | constants.O_CREAT | durableWrites,
};

function openFile(file: FileHandle, durable: boolean): OpenFile {
  const syncEach = durable && durableWrites === 0;
  return {
    size: async () => (await file.stat()).size,
    async read(buffer, position) {
      let filled = 0;
      while (filled < buffer.length) {
        const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return filled;
    },
    // Callbacks instead of the promises of FileHandle: half the time on the main thread, and this is the hottest
    // call of all.
    write: (bytes, position) =>
      new Promise((resolve, reject) => {
        const { fd } = file;
        const step = (done: number): void =>
          writeAt(fd, bytes, done, bytes.length - done, position + done, (error, written) => {
            if (error) reject(error);
            else if (done + written < bytes.length) step(done + written);
            else if (!syncEach) resolve();
            else fdatasync(fd, (failure) => (failure ? reject(failure) : resolve()));
          });
        step(0);
      }),
    truncate: (length) => file.truncate(length),
    sync: () => file.sync(),
    close: () => file.close(),
  };
}
