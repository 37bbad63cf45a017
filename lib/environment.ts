import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { pino, type Logger } from 'pino';

/** Everything impure that the runtime needs, in one value that is passed in: clocks, ids, randomness, log. */
export interface Environment {
  /** Wall time, epoch ms. May go back when somebody sets the clock. */
  now(): number;
  /**
   * Time for waits, epoch ms: anchored to wall time when the process began, never goes back; jumps forward
   * with the wall after a sleep.
   */
  steady(): number;
  /**
   * Put the clock of waits so much further ahead: where an earlier process left it. A world without it starts
   * level with the wall.
   */
  lead?(ms: number): void;
  /**
   * How long the machine has been up, sleep included, and the name of this boot (`''` where it has none). No
   * one can set this clock. Without it, ages are told by `steady`, which follows a wall that leaps ahead.
   */
  sinceBoot?(): { readonly boot: string; readonly ms: number };
  /**
   * Call back after `ms`, or after 24.8 days where that is sooner (callers look at the clock and wait again).
   * Returns the way to cancel.
   */
  timeout(ms: number, callback: () => void): () => void;
  /** A new UUID. */
  id(): string;
  /** A secret: `bytes` random bytes, base64url. */
  secret(bytes: number): string;
  readonly log: Logger;
}

const longestDelayMs = 2 ** 31 - 1;
let bootName: string | undefined;

/** Linux names its boots; elsewhere every start counts as another one. */
function boot(): string {
  try {
    return (bootName ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  } catch {
    return (bootName ??= '');
  }
}

const jumpMsMin = 2_000;

/**
 * `systemWorld({log: pino()})`: the real clocks and randomness. Secrets are redacted at the root of the log.
 */
export function systemEnvironment(options: { readonly log?: Logger } = {}): Environment {
  let offset = Date.now() - performance.now();
  const steady = (): number => {
    const ahead = Date.now() - performance.now() - offset;
    if (ahead > jumpMsMin) offset += ahead;
    return Math.floor(performance.now() + offset);
  };
  return {
    now: Date.now,
    steady,
    lead(ms) {
      offset += ms;
    },
    sinceBoot: () => ({ boot: boot(), ms: Math.floor(uptime() * 1000) }),
    timeout(ms, callback) {
      const timer = setTimeout(callback, Math.max(0, Math.min(ms, longestDelayMs)));
      return () => clearTimeout(timer);
    },
    id: randomUUID,
    secret: (bytes) => randomBytes(bytes).toString('base64url'),
    log: options.log ?? pino({ level: 'silent' }),
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
