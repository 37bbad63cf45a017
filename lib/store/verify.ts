import { join } from 'node:path';
import { readBase } from './base.js';
import { StoreError } from './contract.js';
import { compareWithCopy, CopyError } from './compare.js';
import { surveyCopy, type Survey } from './copy-files.js';
import { DamageError, type Database } from './database.js';
import { isSameHistory, origin, type Position } from './frame.js';
import { inspectRows } from './inspect-rows.js';
import { exists, isGone, type StoreFiles } from './files.js';
import { lockHome } from './lock.js';
import { storePorts, type StorePorts } from './ports.js';
import type { Progress } from './rebuild.js';
import { scanSegments } from './scan.js';

/** What a full check of both copies found. */
export interface VerifyReport {
  /** Nothing is wrong. */
  readonly ok: boolean;
  readonly rows: number;
  /** Log entries kept, and the first of them. */
  readonly entries: number;
  readonly firstSeq: number | undefined;
  /** Where the database stands. */
  readonly head: { readonly seq: number; readonly chain: string } | undefined;
  /**
   * Where the second copy stands. It is ahead of the database after a kill; the next start rolls the database
   * forward.
   */
  readonly copy: {
    readonly seq: number;
    readonly chain: string;
    readonly baseRows: number;
    readonly frames: number;
    readonly bytes: number;
  };
  /** One sentence each. */
  readonly faults: readonly string[];
}

export interface VerifyOptions {
  readonly onProgress?: (progress: Progress) => void;
  readonly ports?: Partial<StorePorts>;
  /** Why the database must not be opened: its second copy alone is checked, and this is the first fault. */
  readonly databaseFault?: string;
}

export type InUseOptions = Pick<VerifyOptions, 'onProgress'>;

/**
 * Check the closed store of a home from end to end without repairing anything: every row, the log's chain, the
 * base image, every segment, and whether the two copies say the same of every row. Throws LOCKED while a
 * gateway has it, REFUSED where there is no store.
 * `const report = await verifyStore(home)`
 */
export async function verifyStore(home: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const ports = storePorts(options.ports);
  const { files } = ports;
  const directory = await files.realpath(home).catch(() => home);
  const survey = await surveyCopy(files, join(directory, 'store-copy'), { create: false });
  if (survey.empty && !(await exists(files, join(directory, 'store'))))
    throw new StoreError('REFUSED', `no store in ${directory}`);
  const unlock = await lockHome(ports, directory);
  let database: Database | undefined;
  try {
    if (options.databaseFault === undefined)
      database = await ports
        .openDatabase(join(directory, 'store'), { create: 'never' })
        .catch((error: unknown) => {
          if (!(error instanceof DamageError)) throw error;
          return undefined;
        });
    return await verifyCopies(files, database, join(directory, 'store-copy'), survey, options);
  } finally {
    await database?.close();
    await unlock();
  }
}

/**
 * The same for a store in use. A rotation or a compaction may add or remove files during the survey and
 * between it and the reading; faults found then prove nothing, so it looks again.
 */
export async function verifyInUse(
  files: StoreFiles,
  database: Database,
  copyDirectory: string,
  options?: InUseOptions,
): Promise<VerifyReport> {
  for (let tries = 1; ; tries += 1) {
    try {
      const survey = await surveyCopy(files, copyDirectory);
      const report = await verifyCopies(files, database, copyDirectory, survey, options);
      const now = report.ok ? survey : await surveyCopy(files, copyDirectory);
      const moved = now.base?.file !== survey.base?.file || now.segments.join() !== survey.segments.join();
      if (!moved || tries === triesMax) return report;
    } catch (error) {
      if (!isGone(error) || tries === triesMax) throw error;
    }
  }
}

/** A look takes less time than the writing of a base image. */
const triesMax = 5;

/** The same for an open database that no one writes to; `undefined` where it cannot be opened. */
export async function verifyCopies(
  files: StoreFiles,
  database: Database | undefined,
  copyDirectory: string,
  survey: Survey,
  { onProgress, databaseFault }: Pick<VerifyOptions, 'onProgress' | 'databaseFault'> = {},
): Promise<VerifyReport> {
  const comparison = compareWithCopy({ files, directory: copyDirectory, base: survey.base });
  let incomparable: string | undefined;
  const compared = async (task: () => Promise<void>): Promise<void> => {
    if (incomparable !== undefined) return;
    await task().catch((error: unknown) => {
      if (!(error instanceof CopyError)) throw error;
      incomparable = error.message;
    });
  };
  const rows =
    database &&
    (await inspectRows(database, {
      onProgress: (count) => onProgress?.({ task: 'verify', rows: count }),
      visit: (page, at, end) => compared(() => (end ? comparison.end(at) : comparison.rows(page, at))),
    }));
  await comparison.close();
  const faults = [
    ...(rows ? rows.faults : [databaseFault ?? 'the database cannot be opened']),
    ...survey.faults,
  ];
  if (survey.checkpointUnreadable) faults.push('the checkpoint is unreadable');
  let start: Position = origin;
  let baseRows = 0;
  try {
    if (survey.base) {
      start = yetUnknown;
      for await (const page of readBase(
        files,
        join(copyDirectory, survey.base.file),
        (position) => (start = { ...position, frame: survey.base!.frame }),
      ))
        baseRows += page.length;
    }
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    faults.push(error.message);
  }
  const scan = await scanSegments({
    files,
    directory: copyDirectory,
    segments: survey.segments,
    start,
    notice: rows?.head?.frame ?? -1,
  });
  faults.push(...scan.faults);
  if (incomparable !== undefined && faults.length === 0) faults.push(incomparable);
  const head = rows?.head;
  if (head && scan.position.frame < head.frame)
    faults.push(`the second copy ends at entry ${scan.position.seq}, the database is at ${head.seq}`);
  if (head && scan.noticed && !isSameHistory(scan.noticed, head))
    faults.push('the copies have different histories');
  if (survey.checkpoint && head && head.frame < survey.checkpoint.frame)
    faults.push(`the database is at entry ${head.seq}, before its checkpoint at ${survey.checkpoint.seq}`);
  return {
    ok: faults.length === 0,
    rows: rows?.rows ?? 0,
    entries: rows?.entries ?? 0,
    firstSeq: rows?.firstSeq,
    head: head && { seq: head.seq, chain: head.chain },
    copy: {
      seq: scan.position.seq,
      chain: scan.position.chain,
      baseRows,
      frames: scan.frames,
      bytes: scan.bytes,
    },
    faults,
  };
}

/** The image's end was not met: pass over every frame rather than report each of them. */
const yetUnknown: Position = { frame: Number.MAX_SAFE_INTEGER, seq: 0, chain: '', digest: '' };
