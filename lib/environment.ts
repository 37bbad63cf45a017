import { randomBytes, randomUUID } from 'node:crypto';
import { uptime } from 'node:os';
import { pino, type Logger } from 'pino';
import { bootName, machineName } from '../actors/engines/process/machine.js';

/** Everything impure that the runtime needs, in one value that is passed in: clock, ids, randomness, log. */
export interface Environment {
  /** Time: of the wall, of waits, and of timeouts. */
  readonly clock: Clock;
  /** Makes ids; a test's environment makes them from a seed. */
  readonly ids: {
    /** A new UUID. */
    next(): string;
  };
  /** Randomness for secrets. */
  readonly random: {
    /** A secret: `bytes` random bytes, base64url. */
    secret(bytes: number): string;
  };
  /** Where the supervisor and its effects log; a pino logger that redacts secrets. */
  readonly log: Logger;
  /** Whose clock it is: a home may move, and walls differ. Absent: always the same. */
  readonly machine?: string;
  /** What is being carried out, for the causes in the log. Absent: causes are not followed through programs. */
  readonly causality?: Causality;
}

/**
 * On whose account something is done right now. `traceparent=…` (W3C) of a request, `effect=<kind>/<id>/<key>` of what
 * an effect does: the supervisor writes it behind the cause of a log entry.
 */
export interface Causality {
  /** Undefined where nothing is known, or what was carried out is over. */
  current(): string | undefined;
  /** Everything that `run` does until what it answers has settled has this cause. */
  within<Result>(cause: string, run: () => Promise<Result>): Promise<Result>;
}

export interface Clock {
  /** Wall time, epoch ms. May go back when the clock is set. */
  now(): number;
  /**
   * Time for waits, epoch ms: anchored to wall time when the process began, never goes back; jumps forward
   * with the wall after a sleep.
   */
  monotonic(): number;
  /**
   * Put the monotonic clock so much further ahead: where an earlier process left it. A clock without it starts
   * level with the wall.
   */
  skewBy?(ms: number): void;
  /**
   * How long the machine has been up, sleep included, and the name of this boot (`''` where it has none). No
   * one can set this clock. Without it, ages go by `monotonic`, which follows a wall that leaps ahead.
   */
  sinceBoot?(): { readonly boot: string; readonly ms: number };
  /**
   * Call back after `ms`, or after 24.8 days where that is sooner (callers look at the clock and wait again).
   * Returns the way to cancel.
   */
  timeout(ms: number, callback: () => void): () => void;
}

const longestDelayMs = 2 ** 31 - 1;

const jumpMsMin = 2_000;

/**
 * The real clocks and randomness. Secrets are redacted at the root of the log.
 *
 *
 * Never throws.
 * @example
 * const environment = systemEnvironment({ log: pino() });
 */
export function systemEnvironment(options: { readonly log?: Logger } = {}): Environment {
  return {
    clock: systemClock(),
    ids: { next: randomUUID },
    random: { secret: (bytes) => randomBytes(bytes).toString('base64url') },
    log: options.log ?? pino({ level: 'silent' }),
    machine: machineName(),
  };
}

function systemClock(): Clock {
  let offset = Date.now() - performance.now();
  return {
    now: Date.now,
    monotonic() {
      const ahead = Date.now() - performance.now() - offset;
      if (ahead > jumpMsMin) offset += ahead;
      return Math.floor(performance.now() + offset);
    },
    skewBy(ms) {
      offset += ms;
    },
    sinceBoot: () => ({ boot: bootName(), ms: Math.floor(uptime() * 1000) }),
    timeout(ms, callback) {
      const timer = setTimeout(callback, Math.max(0, Math.min(ms, longestDelayMs)));
      return () => clearTimeout(timer);
    },
  };
}

/** Paths of log fields that may carry secrets. */
export const redactedPaths = [
  'token',
  'secret',
  'authorization',
  'cookie',
  '*.token',
  '*.secret',
  '*.authorization',
  '*.cookie',
  '*.headers.authorization',
  '*.headers.cookie',
];
