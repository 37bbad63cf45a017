import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HomeError } from './home-error.js';

/**
 * The only way in which files of a home are written: a reader, a crash or a power cut meets the old file or
 * the new one, never half of either. Write beside it, fsync, rename over it, fsync the folder so that the
 * name is kept too.
 */
export interface WriteOptions {
  /** Permission bits of the new file, whatever the umask and whatever the old file had. */
  readonly mode: number;
  /**
   * Hash (`contentHash`) of what the writer had read, `null` for "was absent". Another content now:
   * CHANGED_MEANWHILE.
   */
  readonly unlessChangedFrom?: string | null;
}

/**
 * `await writeAtomically(layout.announcement, json, {mode: 0o600})`. Makes no folders. Rejects with the
 * system's error, leaving the old file.
 */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions,
): Promise<void> {
  const temporary = join(
    dirname(path),
    `.${basename(path)}.${randomBytes(9).toString('base64url')}${suffix}`,
  );
  try {
    await writeThrough(temporary, content, options.mode);
    if (options.unlessChangedFrom !== undefined) await refuseIfChanged(path, options.unlessChangedFrom);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/**
 * The content of a regular file of at most `bytesMax` bytes; undefined when absent. Links, pipes and devices
 * are never opened.
 */
export async function readPlainFile(path: string, bytesMax: number): Promise<Buffer | undefined> {
  // O_NONBLOCK: without it a pipe put in the file's place would hold the start for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      if (error.code === 'ELOOP')
        throw new HomeError('BAD_HOME', `${path} is a symbolic link.`, 'Replace it with the file itself.', {
          cause: error,
        });
      throw error;
    },
  );
  if (file === undefined) return undefined;
  try {
    const { size } = await regular(file, path);
    if (size > bytesMax)
      throw new HomeError(
        'BAD_HOME',
        `${path} has ${size} bytes, more than the limit of ${bytesMax}.`,
        'Make it smaller.',
      );
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Hash of a file's content, for `unlessChangedFrom`: SHA-256, hex. */
export function contentHash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Make a private folder (0700) and those above it where they are missing; one that exists keeps its
 * permissions. Step by step: where a folder can never be made (below /proc, say), Node's own recursive way
 * tries again for ever, and each such try holds one of the few threads that read and write files.
 */
export async function makeFolder(path: string): Promise<void> {
  const missing: string[] = [];
  for (
    let at = path;
    (await stat(at).catch(() => undefined)) === undefined && at !== dirname(at);
    at = dirname(at)
  )
    missing.unshift(at);
  for (const folder of missing.length === 0 ? [path] : missing) {
    const made = await mkdir(folder, { mode: 0o700 }).then(
      () => true,
      async (error: NodeJS.ErrnoException) => {
        // Someone was faster
        if (error.code === 'EEXIST' && (await stat(folder)).isDirectory()) return false;
        throw error;
      },
    );
    if (made) await chmod(folder, 0o700); // the umask may have taken even the owner's bits
  }
  if (missing[0] !== undefined) await syncFolder(dirname(missing[0]));
}

/** A folder for its owner alone (0700), made where it is missing. */
export async function makePrivate(path: string): Promise<void> {
  await makeFolder(path);
  await chmod(path, 0o700);
}

/**
 * Remove what writers left behind that were killed between write and rename. Only for the one process that
 * holds the home.
 */
export async function sweepTemporary(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const left = names.filter((name) => name.startsWith('.') && name.endsWith(suffix));
  for (const name of left) await rm(join(folder, name), { force: true });
  return left.length;
}

const suffix = '.writing';
const changedFileBytesMax = 16 * 2 ** 20;

async function writeThrough(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.chmod(mode);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function refuseIfChanged(path: string, expected: string | null): Promise<void> {
  const now = await readPlainFile(path, changedFileBytesMax);
  if ((now === undefined ? null : contentHash(now)) === expected) return;
  throw new HomeError(
    'CHANGED_MEANWHILE',
    `${path} has changed since it was read.`,
    'Read it again and repeat the change.',
  );
}

async function regular(
  file: Awaited<ReturnType<typeof open>>,
  path: string,
): Promise<Awaited<ReturnType<typeof stat>> & { size: number }> {
  const facts = await file.stat();
  if (!facts.isFile()) throw new HomeError('BAD_HOME', `${path} is not a regular file.`, 'Move it away.');
  return facts;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Also a folder, and what cannot be read: `await isThere(layout.store)`. A link to nothing is not. */
export const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Where a path leads, every link on the way followed; undefined where nothing is. Rejects with a HomeError where it is
 * a link that leads nowhere: that is a disk that is not mounted, and no home or folder that is still to be made.
 * @example await followed(layout.home) // '/mnt/large/svc'
 */
export async function followed(path: string): Promise<string | undefined> {
  if ((await lstat(path).catch(() => undefined)) === undefined) return undefined;
  return realpath(path).catch((cause: NodeJS.ErrnoException) => {
    throw new HomeError(
      'BAD_HOME',
      `${path} is a link that leads nowhere (${cause.code ?? cause.message}).`,
      'Mount the disk that it leads to, or remove the link.',
      { cause },
    );
  });
}
