import { systemEnvironment, type Clock, type Environment } from '../environment.js';

/**
 * An environment whose clock stands still until a test moves it, and whose ids and secrets follow from a seed: the
 * same test gives the same run.
 */
export interface TestEnvironment extends Environment {
  /**
   * Let `ms` pass: every timeout on the way fires at its own moment, and what it sets off is given time to
   * happen.
   */
  advance(ms: number): Promise<void>;
  /**
   * The machine slept for `ms`: the clock leaps, then what became due meanwhile fires late, once. Any length
   * is cheap.
   */
  sleep(ms: number): Promise<void>;
  /** The wall clock was set, forward or (negative) back. */
  setWall(byMs: number): Promise<void>;
  /** Let everything happen that needs no time to pass. */
  settle(): Promise<void>;
  /** Timeouts that wait. */
  readonly waiting: number;
}

/** Where the clock of a test begins, and from which seed its ids and chances come. */
export interface TestEnvironmentOptions {
  /** Default 1. */
  readonly seed?: number;
  /** Epoch ms at the beginning. Default: 2026-01-01T00:00:00Z. */
  readonly startAt?: number;
  /** The name of the machine's boot. Default: always the same one. */
  readonly boot?: string;
  /** The name of the machine. Default: always the same one. */
  readonly machine?: string;
  /** How far `startAt` is ahead of the time that has passed: where the wall leapt in an earlier process. */
  readonly leapt?: number;
  /** Default: that of `systemEnvironment`. */
  readonly log?: Environment['log'];
}

interface Timeout {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * Clock, ids and chance as a spec wants them: nothing happens until `advance`, and the same seed gives the same
 * run.
 *
 *
 * Never throws.
 * @example
 * const environment = testEnvironment({ seed: 7 });
 * const supervisor = await createSupervisor({ kinds: [counter], store: memoryStore(), environment });
 * await environment.advance(60_000);
 */
export function testEnvironment(options: TestEnvironmentOptions = {}): TestEnvironment {
  const random = randomFrom(options.seed ?? 1);
  let monotonic = options.startAt ?? Date.UTC(2026, 0, 1);
  let wallAhead = 0;
  /** How much of the clock of waits is no time that has passed. */
  let leapt = options.leapt ?? 0;
  let order = 0;
  const timeouts = new Set<Timeout>();
  const next = (until: number): Timeout | undefined => {
    let first: Timeout | undefined;
    for (const timeout of timeouts) {
      if (timeout.at > until) continue;
      if (
        first === undefined ||
        timeout.at < first.at ||
        (timeout.at === first.at && timeout.order < first.order)
      )
        first = timeout;
    }
    return first;
  };
  const fireUntil = async (until: number): Promise<void> => {
    for (let due = next(until); due !== undefined; due = next(until)) {
      monotonic = Math.max(monotonic, due.at);
      timeouts.delete(due);
      due.callback();
      await settled();
    }
    monotonic = Math.max(monotonic, until);
  };
  const clock: Clock = {
    now: () => monotonic + wallAhead,
    monotonic: () => monotonic,
    skewBy(ms) {
      monotonic += ms;
      wallAhead -= ms;
      leapt += ms;
    },
    sinceBoot: () => ({ boot: options.boot ?? 'virtual', ms: monotonic - leapt }),
    timeout(ms, callback) {
      const timeout: Timeout = {
        at: monotonic + Math.max(0, Math.min(ms, longestDelayMs)),
        order: (order += 1),
        callback,
      };
      timeouts.add(timeout);
      return () => {
        timeouts.delete(timeout);
      };
    },
  };
  return {
    clock,
    ids: {
      next() {
        const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
        return (
          `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-` +
          `${digits.slice(20)}`
        );
      },
    },
    random: {
      secret: (bytes) =>
        Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256))).toString('base64url'),
    },
    log: options.log ?? systemEnvironment().log,
    ...(options.machine === undefined ? {} : { machine: options.machine }),
    async advance(ms) {
      await settled();
      await fireUntil(monotonic + ms);
    },
    async sleep(ms) {
      await settled();
      monotonic += ms;
      await fireUntil(monotonic);
    },
    async setWall(byMs) {
      // As the real world does: waits follow a wall that leaps ahead of them (the machine may have slept),
      // never back, and stay where they are while a wall that was set back catches up with them.
      wallAhead += byMs;
      if (wallAhead > jumpMsMin) {
        leapt += wallAhead;
        [monotonic, wallAhead] = [monotonic + wallAhead, 0];
      }
      await fireUntil(monotonic);
    },
    settle: settled,
    get waiting() {
      return timeouts.size;
    },
  };
}

// As in the system's environment: the longest delay of a timer, and the least leap of the wall clock that moves
// the monotonic one.
const longestDelayMs = 2 ** 31 - 1;
const jumpMsMin = 2_000;

/** Enough turns of the event loop for a commit in memory and what follows from it. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

/** Mulberry32: small, fast, good enough for tests, never for secrets. Numbers from 0 to below 1. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
