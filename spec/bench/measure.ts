import { mkdir, mkdtemp, rm } from 'node:fs/promises';
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

/** Milliseconds that a deed takes. */
export async function timed(deed: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await deed();
  return performance.now() - began;
}

/**
 * Do `total` deeds with `lanes` of them in flight. `deed(lane, turn)`: what one lane does never meets another
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

/** Between rounds: what one round has left must not be collected in the next. */
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
