import { constants } from 'node:fs';
import { open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises';
import { join, sep } from 'node:path';

/**
 * The one way in which files that someone named are opened. The name is a relative path of plain segments;
 * what is opened must be a regular file with one name only, and must lie where the path says, judged by the
 * opened handle and not by the name. So a link or a folder swapped in at any moment leads to a refusal, never
 * to someone else's bytes.
 */
export interface JailedFile {
  readonly handle: FileHandle;
  /** Bytes. */
  readonly size: number;
  readonly mtimeMs: number;
  /** Absolute, without links. */
  readonly path: string;
}

/**
 * Why not. `malformed`: the path itself. `outside`: a link, a pipe, a device, a second name. `absent`:
 * nothing there.
 */
export type OpenError = 'malformed' | 'outside' | 'absent';

/** `const file = await openJailed(layout.knowledge, 'guides/tea.md')`. The caller closes `file.handle`. */
export async function openJailed(root: string, path: string): Promise<JailedFile | OpenError> {
  const segments = segmentsOf(path);
  if (segments === undefined) return 'malformed';
  const realRoot = await realpath(root).catch(() => undefined); // the home itself may be behind a link of its owner's
  if (realRoot === undefined) return 'absent';
  const place = join(realRoot, ...segments);
  return openThere(place);
}

/** The same for an absolute path that someone with authority over the whole machine named. */
export async function openPlain(path: string): Promise<JailedFile | OpenError> {
  const place = await realpath(path).catch(() => undefined);
  return place === undefined ? 'absent' : openThere(place);
}

/** `a/b.md` → its segments; undefined for anything that is not a plain relative path. */
export function segmentsOf(path: string): readonly string[] | undefined {
  if (path === '' || path.length > 1_024 || unfit.test(path)) return undefined;
  const segments = path.split('/');
  return segments.every(
    (segment) => segment !== '' && segment !== '.' && segment !== '..' && Buffer.byteLength(segment) <= 255,
  )
    ? segments
    : undefined;
}

/**
 * Control characters, halves of letters, backslashes, and what would be a separator or a dot if someone
 * decoded it once more.
 */
const unfit = /[\p{Cc}\p{Cs}\\\u2028\u2029]|%(?:2e|2f|5c|00)/iu;

async function openThere(place: string): Promise<JailedFile | OpenError> {
  let handle: FileHandle;
  try {
    // O_NONBLOCK: a pipe in the file's place must not hold us
    handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG' ? 'absent' : 'outside';
  }
  try {
    const opened = await handle.stat();
    if (opened.isFile() && opened.nlink === 1 && (await liesAt(handle, place)))
      return { handle, size: opened.size, mtimeMs: opened.mtimeMs, path: place };
  } catch {
    // moved away while we looked
  }
  await handle.close();
  return 'outside';
}

/**
 * Does the opened file lie at that very place? Linux tells the true path of an opened file. Elsewhere the
 * place is looked up again, twice: who swaps a link in must win four races in a row.
 */
async function liesAt(handle: FileHandle, place: string): Promise<boolean> {
  if (process.platform === 'linux') return (await readlink(`/proc/self/fd/${handle.fd}`)) === place;
  const opened = await handle.stat();
  for (let tries = 0; tries < 2; tries += 1) {
    if ((await realpath(place)) !== place) return false;
    const there = await stat(place);
    if (there.ino !== opened.ino || there.dev !== opened.dev) return false;
  }
  return true;
}

/** True for a real path inside a real folder. */
export const isInside = (folder: string, path: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** At most `bytesMax` bytes from the beginning, by the handle. */
export async function readStart(handle: FileHandle, bytesMax: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytesMax);
  let length = 0;
  while (length < bytesMax) {
    const { bytesRead } = await handle.read(buffer, length, bytesMax - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
