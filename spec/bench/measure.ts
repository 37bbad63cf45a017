import type { ChildProcess } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What every measure shares: its shape, its folders, its clock and its arithmetic. */
export interface Measure {
  readonly name: string;
  readonly about: string;
  run(options: MeasureOptions): Promise<readonly Figure[]>;
}

export interface MeasureOptions {
  /** Interleaved rounds; figures are medians over them. */
  readonly rounds: number;
  /** How large the large case is, where a measure has one (boot, growth, memory). */
  readonly size?: number;
}

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What must hold; a figure without a target only informs. */
  readonly target?: { readonly atLeast: number } | { readonly atMost: number };
  readonly note?: string;
}

export const holds = ({ value, target }: Figure): boolean =>
  target === undefined || ('atLeast' in target ? value >= target.atLeast : value <= target.atMost);

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Milliseconds that an action takes. */
export async function timed(deed: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await deed();
  return performance.now() - began;
}

/**
 * Do `total` actions with `lanes` of them in flight. `action(lane, turn)`: what one lane does never meets another
 * lane's.
 */
export async function inFlight(
  lanes: number,
  total: number,
  deed: (lane: number, turn: number) => Promise<unknown>,
): Promise<void> {
  const turns = Math.ceil(total / lanes);
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let turn = 0; turn < turns; turn += 1) await deed(lane, turn);
    }),
  );
}

/**
 * Run with a folder beside the build, so on the disk of the checkout (a temporary folder may be memory); it
 * is gone afterwards.
 */
export async function withHome<Result>(deed: (home: string) => Promise<Result>): Promise<Result> {
  const beside = fileURLToPath(new URL('../../', import.meta.url));
  await mkdir(beside, { recursive: true });
  const home = await mkdtemp(join(beside, '.bench-'));
  try {
    return await deed(home);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Where memory is measured. Before a slice that is timed it would flatter: no one collects for a host. */
export const collectGarbage = (): void => {
  (globalThis as { gc?: () => void }).gc?.();
};

/** Bytes of heap in use when nothing is left to be collected. */
export async function settledHeap(): Promise<number> {
  for (let n = 0; n < 4; n += 1) {
    collectGarbage();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  return process.memoryUsage().heapUsed;
}

/**
 * Milliseconds of processor that the main thread has had: what limits the rate, and steadier than it. NaN where the
 * system does not say: Linux does, to the nanosecond.
 */
export function mainThreadMs(): number {
  const [nanoseconds] = read(`/proc/self/task/${process.pid}/schedstat`).split(' ');
  return Number(nanoseconds || NaN) / 1e6;
}

/**
 * Bytes that were written so far to the device on which a folder lies, by whichever process: only on a machine that
 * does nothing else do they tell of one of them. What the kernel counts for a process is no use: whole folios of the
 * page cache, ten times what is written. NaN where the device is not known.
 */
export function deviceBytes(folder: string): number {
  const { dev } = statSync(folder);
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
  const disk = read('/proc/diskstats')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find(([one, other]) => Number(one) === major && Number(other) === minor);
  return Number(disk?.[9]) * sectorBytes;
}

const sectorBytes = 512;

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Resident memory of a process, in MB. */
export const rssMbOf = async ({ pid }: Pick<ChildProcess, 'pid'>): Promise<number> =>
  Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
