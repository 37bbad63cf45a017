import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunLine } from '../../machines/cron-fire/machine.js';
import { makeFolder, writeAtomically } from '../home/atomic-file.js';

/**
 * The runs of a cron job as a file, one line each, oldest first: `cron/runs/<id>.jsonl`. For people and their
 * tools; it outlives the job, and is shortened when it has grown to 16 MiB. What is not a line of it is passed over.
 */
export interface RunBook {
  /**
   * Once per `sessionKey`: a run that is written again (after a crash in between) is known by the end of the
   * file.
   */
  append(jobId: string, line: RunLine): Promise<void>;
  /** The newest first; of those before the run with that key, where one is given. */
  newest(jobId: string, limit: number, before?: string): Promise<readonly RunLine[]>;
}

export function runBook(folder: string): RunBook {
  const turns = new Map<string, Promise<void>>();
  const write = async (jobId: string, line: RunLine): Promise<void> => {
    await makeFolder(folder);
    const { lines } = await tail(pathOf(folder, jobId), tailBytes);
    if (lines.some(({ sessionKey }) => sessionKey === line.sessionKey)) return;
    const file = await open(pathOf(folder, jobId), 'a', 0o600);
    try {
      const { size } = await file.stat();
      // a line that a crash has torn is ended first, so that it spoils no other
      const torn = size > 0 && (await lastByte(pathOf(folder, jobId), size)) !== 0x0a;
      await file.appendFile(`${torn ? '\n' : ''}${JSON.stringify(line)}\n`);
      await file.datasync();
      if (size < fileBytesMax) return;
    } finally {
      await file.close();
    }
    await shorten(pathOf(folder, jobId));
  };
  return {
    append(jobId, line) {
      const turn = (turns.get(jobId) ?? Promise.resolve())
        .catch(() => undefined)
        .then(() => write(jobId, line));
      turns.set(jobId, turn);
      return turn.finally(() => {
        if (turns.get(jobId) === turn) turns.delete(jobId);
      });
    },
    async newest(jobId, limit, before) {
      // from the end, in ever longer stretches, until there are enough
      for (let bytes = limit * lineBytesMax; ; bytes *= 4) {
        const { lines, isAll } = await tail(pathOf(folder, jobId), bytes);
        const end =
          before === undefined ? lines.length : lines.findIndex(({ sessionKey }) => sessionKey === before);
        if (end >= limit || isAll) return lines.slice(0, Math.max(0, end)).slice(-limit).reverse();
      }
    },
  };
}

const tailBytes = 256 * 1024;
/** Beyond this the older half of a file goes: tens of thousands of runs stay. */
const fileBytesMax = 16 * 2 ** 20;
const lineBytesMax = 8 * 1024;

/** An id is part of a name of a file: it was checked when the job was made, and is checked here again. */
function pathOf(folder: string, jobId: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(jobId))
    throw new RangeError(`not the id of a job: ${jobId}`);
  return join(folder, `${jobId}.jsonl`);
}

/** The lines at the end of a file, as far as they lie in so many bytes. */
async function tail(
  path: string,
  bytes: number,
): Promise<{ readonly lines: readonly RunLine[]; readonly isAll: boolean }> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return { lines: [], isAll: true };
  try {
    const { size } = await file.stat();
    const length = Math.min(size, bytes);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const lines = buffer
      .toString('utf8')
      .split('\n')
      .flatMap((text) => {
        try {
          const line = JSON.parse(text) as Partial<RunLine> | null;
          return typeof line?.sessionKey === 'string' ? [line as RunLine] : [];
        } catch {
          return [];
        }
      });
    return { lines, isAll: length === size };
  } finally {
    await file.close();
  }
}

/** Keep the younger half, from the beginning of a line. */
async function shorten(path: string): Promise<void> {
  const bytes = await readFile(path);
  const from = bytes.indexOf(0x0a, bytes.length - fileBytesMax / 2) + 1;
  await writeAtomically(path, bytes.subarray(from), { mode: 0o600 });
}

async function lastByte(path: string, size: number): Promise<number | undefined> {
  const file = await open(path, 'r');
  try {
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0];
  } finally {
    await file.close();
  }
}
