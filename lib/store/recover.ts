import { join } from 'node:path';
import type { Logger } from 'pino';
import { endOfBase, writeBase } from './base.js';
import { StoreError } from './contract.js';
import {
  segmentName,
  surveyCopy,
  writeCheckpoint,
  type BaseFile,
  type Place,
  type Survey,
} from './copy-files.js';
import { DamageError, headOf, type Database } from './database.js';
import { writeFileDurably } from './durable-file.js';
import { isSameHistory, opsIn, origin, positionOf, type Position } from './frame.js';
import { hasBegun, holdsData, isEmpty, keepName, markerFile } from './home-folder.js';
import { inspectRows } from './inspect-rows.js';
import type { StorePorts } from './ports.js';
import { batchLoader, rebuildDatabase, setAside, type Progress } from './rebuild.js';
import { scanSegments, type Scan } from './scan.js';
import { openSegmentWriter, type SegmentWriter } from './segment-writer.js';

/**
 * Opening a home: compare the two copies, roll the one that is behind forward, repair the one that is damaged
 * from the other, and refuse where acknowledged writes would be lost. LevelDB's own log may have lost records
 * without a word, so everything after the last checkpoint is always applied again from the segments.
 */
export interface Opened {
  readonly database: Database;
  readonly position: Position;
  readonly writer: SegmentWriter;
  readonly base: BaseFile | null;
  readonly segments: readonly string[];
  readonly replayedFrames: number;
  readonly replayedBytes: number;
}

export interface RecoverOptions {
  readonly ports: StorePorts;
  readonly home: string;
  readonly log?: Logger;
  readonly onProgress?: (progress: Progress) => void;
  /** Why the database must not be trusted though it opens: it is rebuilt. */
  readonly distrust?: string;
  /** It is distrusted though no one saw anything wrong in it. */
  readonly suspected?: boolean;
  /** It may be asked how far it got, where the copy may have lost its end. */
  readonly consult?: boolean;
  /** How far this process has written for good; nothing that ends before it is gone on with. */
  readonly written?: Position;
  readonly segmentBytesMax?: number;
  readonly reserveBytes?: number;
}

/**
 * The caller holds the lock of the home. Throws REFUSED (a person is needed) or whatever the disk said (try
 * again).
 */
export async function recoverHome(options: RecoverOptions, isRebuilt = false): Promise<Opened> {
  const { ports, home, log } = options;
  const { files } = ports;
  const copy = join(home, 'store-copy');
  const began = await hasBegun(files, home);
  const survey = await surveyCopy(files, copy);
  const fresh = !began && survey.empty && (await isEmpty(files, join(home, 'store')));
  const database = fresh
    ? await ports.openDatabase(join(home, 'store'), { create: 'new' })
    : await openOrRebuild(options, survey, began);
  try {
    const opened = await matchCopies(options, survey, database);
    // This process made folders here, or an earlier one that died before their names were durable; and the marker
    // says that they must be there.
    await files.syncDirectory(home);
    if (!began || fresh) {
      await keepName(files, home);
      await writeFileDurably(
        files,
        join(home, markerFile),
        `${JSON.stringify({ format: 1, begunAt: new Date(ports.clock.now()).toISOString() })}\n`,
      );
    }
    return opened;
  } catch (error) {
    const written = furthest(options.written, headIfAny(database));
    await database.close();
    // LevelDB compacts as soon as it is open, and takes no write once that met damage
    if (isUnreadable(error) && !isRebuilt) {
      const { distrust: _distrust, suspected: _suspected, ...rest } = options;
      const again = (): Promise<Opened> => recoverHome(rest, true);
      return rebuildDatabase({ ...options, ...written, survey, reason: error.message }).then(
        again,
        (refusal: unknown) => rereadBefore(refusal, again),
      );
    }
    if (error instanceof StoreError && error.code === 'REFUSED')
      log?.error({ reason: error.message }, 'store failed its checks');
    throw error;
  }
}

class Rebuild extends Error {}

async function openOrRebuild(options: RecoverOptions, survey: Survey, began: boolean): Promise<Database> {
  const { ports } = options;
  const directory = join(options.home, 'store');
  const rebuild = async (reason: string): Promise<Database> => {
    if (
      survey.base === null &&
      survey.segments.length === 0 &&
      (began || (await holdsData(ports.files, directory)))
    ) {
      throw new StoreError(
        'REFUSED',
        `The database in ${directory} cannot be opened (${reason}), and there is no second copy in ` +
          `${options.home}/store-copy. ` +
          'This home was in use before, so no new store is created in it. Put the folders back, restore ' +
          'a backup into a new home, or choose an empty home to start over.',
      );
    }
    await rebuildDatabase({ ...options, survey, reason });
    return ports.openDatabase(directory, { create: 'never' });
  };
  if (options.distrust !== undefined) return rebuild(options.distrust);
  try {
    return await ports.openDatabase(directory, { create: 'never' });
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    return rebuild(error.message).catch((refusal: unknown) =>
      rereadBefore(refusal, () => ports.openDatabase(directory, { create: 'never' })),
    );
  }
}

const isUnreadable = (error: unknown): error is Rebuild | DamageError =>
  error instanceof Rebuild || error instanceof DamageError;

/**
 * The database could not be read, and nothing can replace it. A disk that failed for a moment looks the same, and
 * nothing was changed: so it is read once more before the home is refused.
 */
async function rereadBefore<Answer>(refusal: unknown, reread: () => Promise<Answer>): Promise<Answer> {
  if (!(refusal instanceof StoreError && refusal.code === 'REFUSED')) throw refusal;
  return reread().catch((error: unknown) => {
    throw isUnreadable(error) ? refusal : error;
  });
}

/** Bring both copies to the same position. */
async function matchCopies(options: RecoverOptions, survey: Survey, database: Database): Promise<Opened> {
  const { home, log, onProgress } = options;
  const { files } = options.ports;
  const copy = join(home, 'store-copy');
  const head = readHead(database);
  const { checkpoint } = survey;
  if (checkpoint && head.frame < checkpoint.frame)
    throw new Rebuild(`the database is at entry ${head.seq}, before its checkpoint at ${checkpoint.seq}`);

  const usable = checkpoint && survey.segments.includes(checkpoint.segment) ? checkpoint : undefined;
  const start: Position = usable ?? (survey.base && (await endOfBase(files, copy, survey.base))) ?? origin;
  if (head.frame < start.frame)
    throw new Rebuild(`the database is at entry ${head.seq}, before the base image at ${start.seq}`);
  const range = {
    files,
    directory: copy,
    segments: survey.segments,
    start,
    ...(usable ? { place: usable } : {}),
  };
  const scan = await scanSegments({ ...range, notice: head.frame });
  if (scan.noticed && !isSameHistory(scan.noticed, head)) {
    throw new StoreError(
      'REFUSED',
      `The database and its second copy have different histories: both have a group ${head.frame}, ` +
        `ending at entry ${head.seq} and ${scan.noticed.seq}, and their chains differ. ` +
        `One of the folders store and store-copy in ${home} comes from another home. Put the right one back.`,
    );
  }
  const faults = [
    ...survey.faults,
    ...(scan.intact && scan.position.frame >= head.frame
      ? []
      : [
          scan.faults.join('; ') ||
            `the segments end at group ${scan.position.frame}, the database is at ${head.frame}`,
        ]),
  ];
  if (faults.length > 0) await trustDatabase(database, options, head, scan, faults);

  // A verified database must not be given older frames again: the ones between that the copy lost would be
  // undone.
  const replayAfter = faults.length > 0 ? head.frame : start.frame;
  const loader = batchLoader(database, (rows) => onProgress?.({ task: 'replay', rows }));
  if (scan.position.frame > replayAfter) {
    await scanSegments({
      ...range,
      visit: (frame, body) => (frame.frame > replayAfter ? loader.add(opsIn(body)) : undefined),
    });
    await loader.end();
  }
  const position = scan.position.frame >= head.frame ? positionOf(scan.position) : head;
  const { written } = options;
  if (written !== undefined && position.frame < written.frame)
    throw new StoreError(
      'REFUSED',
      `Both copies of the store in ${home} end at entry ${position.seq}, and entry ${written.seq} was acknowledged. ` +
        'Stop the gateway, check the disk, and start again; restore a backup where that does not help.',
    );
  await database.apply([], position);
  if (scan.frames > 0)
    log?.info({ frames: scan.frames, bytes: scan.bytes, seq: position.seq }, 'store rolled forward');
  if (faults.length > 0) return renewCopy(options, database, position);

  // A kill right after a new segment was begun leaves it empty; the next frame belongs into it, as its name
  // says.
  const next = segmentName(position.frame + 1);
  const place: Place =
    scan.place && !survey.segments.includes(next) ? scan.place : { segment: next, offset: 0 };
  const writer = await openSegmentWriter({ files, directory: copy, place, ...writing(options) });
  const segments = survey.segments.includes(place.segment) ? survey.segments : [place.segment];
  if (checkpoint?.format !== 2)
    await closingOnError(writer, async () => {
      await database.flush();
      await writeCheckpoint(files, copy, {
        ...position,
        ...place,
        clean: false,
        base: survey.base,
        segments,
      });
    });
  return {
    database,
    position,
    writer,
    base: survey.base,
    segments,
    replayedFrames: scan.frames,
    replayedBytes: scan.bytes,
  };
}

function readHead(database: Database): Position {
  try {
    return headOf(database);
  } catch (error) {
    if (error instanceof DamageError) throw new Rebuild(error.message);
    throw error;
  }
}

/** What a database that is given up still says of how far it got. It was durable in the segments before. */
function headIfAny(database: Database): Position | undefined {
  try {
    return database.head();
  } catch {
    return undefined;
  }
}

function furthest(...positions: readonly (Position | undefined)[]): { readonly written?: Position } {
  const [written] = positions
    .filter((position) => position !== undefined)
    .sort((one, other) => other.frame - one.frame);
  return written === undefined ? {} : { written };
}

/**
 * The second copy is damaged: is the database whole, and does it hold what the copy lost? Else both are
 * damaged, and going on would lose acknowledged writes.
 */
async function trustDatabase(
  database: Database,
  options: RecoverOptions,
  head: Position,
  scan: Scan,
  faults: readonly string[],
): Promise<void> {
  options.log?.warn({ faults }, 'second copy of the store is damaged; the database is being verified');
  const beyond = scan.missing.find(({ to }) => to > head.frame);
  const inspect = async (): Promise<readonly string[]> =>
    (await inspectRows(database, { onProgress: (rows) => options.onProgress?.({ task: 'verify', rows }) }))
      .faults;
  // A disk that failed for a moment looks like damage
  const bad = (await inspect()).length > 0 ? await inspect() : [];
  const wrong = [
    ...bad,
    ...(beyond ? [`it lacks the groups ${beyond.from} to ${beyond.to} that the copy lost`] : []),
  ];
  if (wrong.length === 0) return;
  throw new StoreError(
    'REFUSED',
    `Both copies of the store in ${options.home} are damaged. The second copy: ${faults.join('; ')}. The ` +
      `database: ${wrong.join('; ')}. ` +
      'Nothing was changed. Restore a backup into a new home.',
  );
}

/** Set the damaged second copy aside and begin a new one from the database. */
async function renewCopy(options: RecoverOptions, database: Database, position: Position): Promise<Opened> {
  const { ports, home, log } = options;
  const { files } = ports;
  const copy = join(home, 'store-copy');
  await database.flush();
  await setAside(ports, home, 'store-copy');
  await files.mkdir(copy);
  const base = await writeBase(database, {
    ports,
    directory: copy,
    onProgress: (rows) => options.onProgress?.({ task: 'base', rows }),
  });
  const place = { segment: segmentName(position.frame + 1), offset: 0 };
  const writer = await openSegmentWriter({ files, directory: copy, place, ...writing(options) });
  const file = { file: base.file, frame: base.frame, bytes: base.bytes };
  await closingOnError(writer, () =>
    writeCheckpoint(files, copy, {
      ...position,
      ...place,
      clean: false,
      base: file,
      segments: [place.segment],
    }),
  );
  log?.warn({ seq: position.seq, base: base.file }, 'second copy of the store was rewritten');
  return {
    database,
    position,
    writer,
    base: file,
    segments: [place.segment],
    replayedFrames: 0,
    replayedBytes: 0,
  };
}

async function closingOnError(writer: SegmentWriter, task: () => Promise<void>): Promise<void> {
  try {
    await task();
  } catch (error) {
    await writer.close().catch(() => undefined);
    throw error;
  }
}

/** What a segment is written by, besides its place. */
const writing = ({ segmentBytesMax, reserveBytes, log }: RecoverOptions) => ({
  ...(segmentBytesMax !== undefined && { segmentBytesMax }),
  ...(reserveBytes !== undefined && { reserveBytes }),
  onUnreserved: (error: unknown) =>
    log?.warn({ err: error }, 'store could not reserve room for its second copy, and writes on without'),
});
