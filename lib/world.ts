import { randomBytes, randomUUID } from 'node:crypto';
import { pino, type Logger } from 'pino';

/** Everything impure that the runtime needs, in one value that is passed in: clocks, ids, randomness, log. */
export interface SystemWorld {
  /** Wall time, epoch ms. May go back when somebody sets the clock. */
  now(): number;
  /** Time for waits, epoch ms: anchored to wall time when the process began, never goes back; jumps forward with the wall after a sleep. */
  steady(): number;
  /** Put the clock of waits so much further ahead: where an earlier process left it. A world without it starts level with the wall. */
  lead?(ms: number): void;
  /** Call back after `ms`, or after 24.8 days where that is sooner (callers look at the clock and wait again). Returns the way to cancel. */
  timeout(ms: number, callback: () => void): () => void;
  /** A new UUID. */
  id(): string;
  /** A secret: `bytes` random bytes, base64url. */
  secret(bytes: number): string;
  readonly log: Logger;
}

const longestDelayMs = 2 ** 31 - 1;
const jumpMsMin = 2_000;

/** `systemWorld({log: pino()})`: the real clocks and randomness. Secrets are redacted at the root of the log. */
export function systemWorld(options: { readonly log?: Logger } = {}): SystemWorld {
  let offset = Date.now() - performance.now();
  const steady = (): number => {
    const ahead = Date.now() - performance.now() - offset;
    if (ahead > jumpMsMin) offset += ahead;
    return Math.floor(performance.now() + offset);
  };
  return {
    now: Date.now,
    steady,
    lead(ms) { offset += ms; },
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
export const redactedPaths = ['token', 'secret', 'authorization', 'cookie', '*.token', '*.secret', '*.authorization', '*.cookie', '*.headers.authorization', '*.headers.cookie'];
