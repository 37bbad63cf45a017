import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlainFile, writeAtomically } from '../../home/atomic-file.js';
import type { Clock } from '../../environment.js';
import { namesOf } from './audit-files.js';
import type { Link } from './chain.js';
import type { AuditTarget, ShippedLine } from './targets.js';

/**
 * Passes the audit log on as it is written. How far each target came is kept beside the log, after it said that it has
 * the lines: nothing is left out, over any crash. A file says itself what it holds, and gets each line once; a program
 * and a syslog server may get the last batch again after a crash: each line has its number, `n`.
 */
export interface AuditShipping {
  /** Passes on what is there now, as far as it can in five seconds. */
  close(): Promise<void>;
}

export interface ShipOptions {
  /** Of the audit log. */
  readonly folder: string;
  readonly targets: readonly AuditTarget[];
  readonly clock: Pick<Clock, 'timeout'>;
  readonly onWritten: (listener: () => void) => () => void;
  readonly failed: (error: unknown, to: string) => void;
}

/** `const shipping = shipAudit({folder: layout.audit, targets, …}); await shipping.close()` */
export function shipAudit({ folder, targets, clock, onWritten, failed }: ShipOptions): AuditShipping {
  const record = shippedRecord(folder);
  let isLate = false;
  const ends = targets.map((target) => {
    const passOn = passingOn(folder, target, record, () => isLate);
    let running: Promise<void> | undefined;
    let isWanted = false;
    let isClosed = false;
    let retry: (() => void) | undefined;
    const wake = (): void => {
      isWanted = true;
      if (retry === undefined) running ??= run();
    };
    async function run(): Promise<void> {
      while (isWanted) {
        isWanted = false;
        try {
          await passOn();
        } catch (error) {
          failed(error, target.name);
          if (isClosed) break;
          retry = clock.timeout(retryMs, () => {
            retry = undefined;
            wake();
          });
          break;
        }
      }
      running = undefined;
    }
    const ignore = onWritten(wake);
    wake();
    return async () => {
      ignore();
      isClosed = true;
      retry?.();
      retry = undefined;
      await running;
      wake();
      await running;
    };
  });
  return {
    async close() {
      let end: (() => void) | undefined;
      const late = new Promise<void>((resolve) => (end = clock.timeout(closingMs, resolve)));
      await Promise.race([Promise.all(ends.map((close) => close())), late]);
      isLate = true; // what is under way may come to its end, and is passed on again after the next start
      end?.();
    },
  };
}

const retryMs = 10_000;
/** A target that hangs, or lacks much, holds up no end of a gateway. */
const closingMs = 5_000;

/** Passes on everything that the target has not. What it has is told by a line's hash: numbers may begin again from 1. */
function passingOn(
  folder: string,
  target: AuditTarget,
  record: ReturnType<typeof shippedRecord>,
  isLate: () => boolean,
): () => Promise<void> {
  let reached: Place | undefined;
  return async () => {
    const links = [await target.held(), (await record.read())[target.name]].filter(
      (link) => link !== undefined,
    );
    const isStill = reached !== undefined && reached.hash === links[0]?.hash;
    const from = (isStill ? reached : undefined) ?? (await placeOf(folder, links));
    for await (const { lines, place } of batches(folder, from)) {
      if (isLate()) return;
      await target.send(lines);
      if (isLate()) return;
      const { n = 0 } = lines.at(-1) ?? {};
      await record.write(target.name, { n, hash: place.hash });
      reached = place;
    }
  };
}

/** Behind a line: in which file, at which byte. */
interface Place {
  readonly name: string;
  readonly offset: number;
  /** Of that line. */
  readonly hash: string;
}

/**
 * Behind the first of these lines that the log holds; undefined where it holds none: a log that was taken away and
 * begins again, or one whose old files are gone. Then it is passed on from its beginning.
 */
async function placeOf(folder: string, links: readonly Link[]): Promise<Place | undefined> {
  const names = (await namesOf(folder)).reverse();
  for (const { n, hash } of links)
    for (const name of names) {
      if (((await firstNumber(join(folder, name))) ?? Infinity) > n) continue;
      const bytes = await wholeLines(join(folder, name), 0);
      const at = bytes.indexOf(`,"hash":"${hash}"}\n`);
      if (at !== -1) return { name, hash, offset: bytes.indexOf(newline, at) + 1 };
    }
  return undefined;
}

/** Whole lines behind a place, in their order, at most 500 at a time. */
async function* batches(
  folder: string,
  from: Place | undefined,
): AsyncIterable<{ readonly lines: readonly ShippedLine[]; readonly place: Place }> {
  const names = await namesOf(folder);
  for (const name of names.filter((one) => from === undefined || one >= from.name)) {
    let offset = name === from?.name ? from.offset : 0;
    const lines = (await wholeLines(join(folder, name), offset)).toString('utf8').split('\n').slice(0, -1);
    for (let at = 0; at < lines.length; at += batchMax) {
      const batch = lines.slice(at, at + batchMax).map((text) => ({ n: numberOf(text) ?? 0, text }));
      for (const { text } of batch) offset += Buffer.byteLength(text) + 1;
      yield { lines: batch, place: { name, offset, hash: batch.at(-1)?.text.slice(-66, -2) ?? '' } };
    }
  }
}

const batchMax = 500;
const newline = 0x0a;

/** From a byte up to the last line end: what follows is being written. */
async function wholeLines(path: string, from: number): Promise<Buffer> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  const bytes = await readPart(path, from, Math.max(0, size - from));
  return bytes.subarray(0, bytes.lastIndexOf(newline) + 1);
}

async function readPart(path: string, from: number, length: number): Promise<Buffer> {
  const file = await open(path, 'r').catch(() => undefined); // the oldest goes when there are too many
  if (file === undefined) return Buffer.alloc(0);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

const firstNumber = async (path: string): Promise<number | undefined> =>
  numberOf((await readPart(path, 0, 64)).toString('utf8'));

/** `{"n":17,…`: every line begins with its number. */
const numberOf = (line: string): number | undefined => {
  const [, n] = /^\{"n":(\d+)/.exec(line) ?? [];
  return n === undefined ? undefined : Number(n);
};

/** The last line that each target has, by name. */
export function shippedRecord(folder: string) {
  const path = join(folder, 'shipped.json');
  let last: Promise<unknown> = Promise.resolve();
  const read = async (): Promise<Readonly<Record<string, Link>>> => {
    const bytes = await readPlainFile(path, 65_536);
    return bytes === undefined ? {} : (JSON.parse(bytes.toString('utf8')) as Record<string, Link>);
  };
  return {
    read,
    /** One after the other: targets come forward side by side. */
    write(name: string, link: Link): Promise<void> {
      const mine = last.then(async () =>
        writeAtomically(path, JSON.stringify({ ...(await read()), [name]: link }), { mode: 0o600 }),
      );
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}
