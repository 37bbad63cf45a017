import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlainFile, writeAtomically } from '../../home/atomic-file.js';
import type { Clock } from '../../environment.js';
import { namesOf } from './audit-files.js';
import type { AuditTarget, ShippedLine } from './targets.js';

/**
 * Passes the audit log on as it is written. How far each target came is kept beside the log, after it said that it has
 * the lines: nothing is left out, over any crash. A file says itself what it holds, and gets each line once; a program
 * and a syslog server may get the last batch again after a crash: each line has its number, `n`.
 */
export interface AuditShipping {
  /** Passes on what is there now, if it can. */
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
  const ends = targets.map((target) => {
    let running: Promise<void> | undefined;
    let isWanted = false;
    let isClosed = false;
    let retry: (() => void) | undefined;
    const wake = (): void => {
      isWanted = true;
      if (retry === undefined) running ??= run().finally(() => (running = undefined));
    };
    async function run(): Promise<void> {
      while (isWanted) {
        isWanted = false;
        try {
          await passOn(folder, target, record);
        } catch (error) {
          failed(error, target.name);
          if (isClosed) return;
          retry = clock.timeout(retryMs, () => {
            retry = undefined;
            wake();
          });
          return;
        }
      }
    }
    const ignore = onWritten(wake);
    wake();
    return async () => {
      ignore();
      isClosed = true;
      const failing = retry !== undefined;
      retry?.();
      await running;
      if (!failing)
        await passOn(folder, target, record).catch((error: unknown) => failed(error, target.name));
    };
  });
  return { close: async () => void (await Promise.all(ends.map((end) => end()))) };
}

const retryMs = 10_000;

/** Everything that the target has not. */
async function passOn(
  folder: string,
  target: AuditTarget,
  record: ReturnType<typeof shippedRecord>,
): Promise<void> {
  let after = (await target.held()) ?? (await record.read())[target.name] ?? 0;
  for await (const lines of batches(folder, after)) {
    await target.send(lines);
    after = lines.at(-1)?.n ?? after;
    await record.write(target.name, after);
  }
}

/** Whole lines behind line `after`, in their order, at most 500 at a time. */
async function* batches(folder: string, after: number): AsyncIterable<ShippedLine[]> {
  const names = await namesOf(folder);
  // A file whose successor begins at or before the line that is wanted holds nothing new
  let first = 0;
  for (let at = names.length - 1; at > 0; at -= 1) {
    const begins = await firstNumber(join(folder, names[at] ?? ''));
    if (begins === undefined || begins > after + 1) continue;
    first = at;
    break;
  }
  for (const name of names.slice(first)) {
    const text = await wholeLines(join(folder, name));
    const lines = text
      .split('\n')
      .slice(0, -1)
      .map((line) => ({ n: numberOf(line) ?? 0, text: line }))
      .filter(({ n }) => n > after);
    for (let at = 0; at < lines.length; at += batchMax) yield lines.slice(at, at + batchMax);
  }
}

const batchMax = 500;

/** Up to the last line end: what follows is being written. */
async function wholeLines(path: string): Promise<string> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  const text = await readHead(path, size);
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

async function readHead(path: string, bytes: number): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined); // the oldest goes when there are too many
  if (file === undefined) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

const firstNumber = async (path: string): Promise<number | undefined> => numberOf(await readHead(path, 64));

/** `{"n":17,…`: every line begins with its number. */
const numberOf = (line: string): number | undefined => {
  const [, n] = /^\{"n":(\d+)/.exec(line) ?? [];
  return n === undefined ? undefined : Number(n);
};

/** How far each target came, by name. */
export function shippedRecord(folder: string) {
  const path = join(folder, 'shipped.json');
  let last: Promise<unknown> = Promise.resolve();
  const read = async (): Promise<Readonly<Record<string, number>>> => {
    const bytes = await readPlainFile(path, 65_536);
    return bytes === undefined ? {} : (JSON.parse(bytes.toString('utf8')) as Record<string, number>);
  };
  return {
    read,
    /** One after the other: targets come forward side by side. */
    write(name: string, n: number): Promise<void> {
      const mine = last.then(async () =>
        writeAtomically(path, JSON.stringify({ ...(await read()), [name]: n }), { mode: 0o600 }),
      );
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}
