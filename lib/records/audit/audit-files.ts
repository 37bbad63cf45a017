import { appendFile, open, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beginning, linkOf, type Link } from './chain.js';
import { makePrivate, readPlainFile } from '../../home/atomic-file.js';

/**
 * Where the audit log lies: files of bounded size, and `head.json`, which says where the chain begins and
 * ends, so that lines missing at either end are noticed, too. The head is written after the lines that it
 * speaks of are on disk.
 */
export interface Head {
  readonly floor: number;
  readonly last: Link;
}

export interface AuditFiles {
  /** Where the chain stood when it was opened, and why it does not go on from there, if it does not. */
  readonly last: Link;
  readonly broken: string | undefined;
  /** Rejects when it could not be written whole; then the same text is to be given again. */
  append(text: string, last: Link): Promise<void>;
  /** Everything that was appended is on disk, and the head says so. */
  seal(): Promise<void>;
}

/**
 * `await openAuditFiles(layout.audit)`: cuts off what a crash left of a last line; sets aside nothing that is
 * whole.
 */
export async function openAuditFiles(folder: string): Promise<AuditFiles> {
  await makePrivate(folder);
  let names = await namesOf(folder);
  const head = await readHead(folder);
  const found = await tailOf(folder, names);
  const { last, broken } = judge(found, head);
  let floor = head?.floor ?? (names.length === 0 ? last.n + 1 : 1);
  let current = names.at(-1);
  let unsealed: Link | undefined;
  let isTorn = false;
  let bytes =
    current === undefined || broken !== undefined ? Infinity : (await stat(join(folder, current))).size;

  const files: AuditFiles = {
    last,
    broken,
    async append(text, reached) {
      if (bytes >= fileBytesMax) {
        if (unsealed !== undefined) await files.seal(); // the file that is left is not looked at again
        current = `${String(Number(current?.slice(0, 6) ?? 0) + 1).padStart(6, '0')}.jsonl`;
        names = [...names, current];
        bytes = 0;
        for (const old of names.slice(0, Math.max(0, names.length - filesMax)))
          await rm(join(folder, old), { force: true });
        names = names.slice(-filesMax);
        if (names.length === filesMax) floor = (await firstOf(join(folder, names[0] ?? current))) ?? floor;
      }
      const path = join(folder, current ?? '');
      if (isTorn) await truncate(path, bytes).catch(ignoreAbsent); // what a write that failed left of itself
      isTorn = true;
      await appendFile(path, text, { mode: 0o600 });
      isTorn = false;
      bytes += Buffer.byteLength(text);
      unsealed = reached;
    },
    async seal() {
      const reached = unsealed;
      if (reached === undefined) return;
      unsealed = undefined;
      // in this order: a head that is ahead of its file would tell of lines that someone took away
      const file = await open(join(folder, current ?? ''), 'r+');
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
      await writeHead(folder, { floor, last: reached });
    },
  };
  // A log that begins has a head before it has lines: else these would look like what is left of a longer one
  if (head === undefined && found === undefined)
    await writeHead(folder, { floor, last }).catch(() => undefined); // of a disk that fails the first line tells
  return files;
}

async function writeHead(folder: string, head: Head): Promise<void> {
  await writeFile(join(folder, 'head.json.next'), JSON.stringify(head), { mode: 0o600 });
  await rename(join(folder, 'head.json.next'), join(folder, 'head.json'));
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** The files of the log in their order. */
export const namesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder).catch(() => [] as string[])).filter((name) => /^\d{6}\.jsonl$/.test(name)).sort();

export async function readHead(folder: string): Promise<Head | undefined> {
  const bytes = await readPlainFile(join(folder, 'head.json'), 4_096).catch(() => undefined);
  try {
    const { floor, last } = JSON.parse(bytes?.toString('utf8') ?? '') as Head;
    return Number.isSafeInteger(floor) && Number.isSafeInteger(last.n) && /^[0-9a-f]{64}$/.test(last.hash)
      ? { floor, last }
      : undefined;
  } catch {
    return undefined; // absent, or not what we wrote
  }
}

const fileBytesMax = 8 * 2 ** 20;
const filesMax = 16;

/** The last whole line of the newest file; half a line after it is what a crash left, and is cut off. */
async function tailOf(folder: string, names: readonly string[]): Promise<Link | string | undefined> {
  const newest = names.at(-1);
  if (newest === undefined) return undefined;
  const path = join(folder, newest);
  const bytes = await readFile(path);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end < bytes.length) await truncate(path, end);
  if (end === 0) return tailOf(folder, names.slice(0, -1));
  const start = bytes.lastIndexOf(0x0a, end - 2) + 1;
  return linkOf(bytes.toString('utf8', start, end - 1));
}

function judge(
  found: Link | string | undefined,
  head: Head | undefined,
): { last: Link; broken: string | undefined } {
  if (found === undefined)
    return head === undefined || head.last.n === 0
      ? { last: beginning, broken: undefined }
      : { last: head.last, broken: 'the files of the audit log are missing' };
  if (typeof found === 'string')
    return {
      last: head?.last ?? beginning,
      broken: `the last line of the audit log cannot be followed: ${found}`,
    };
  if (head !== undefined && head.last.n > found.n)
    return {
      last: head.last,
      broken: `the audit log ended at line ${head.last.n} and now ends at line ${found.n}`,
    };
  return { last: found, broken: undefined };
}

async function firstOf(path: string): Promise<number | undefined> {
  const [first = ''] = (await readFile(path, 'utf8').catch(() => '')).split('\n', 1);
  const link = linkOf(first);
  return typeof link === 'string' ? undefined : link.n;
}
