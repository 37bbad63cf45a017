/**
 * So many in a minute and no more, counted in a sliding window of the monotonic clock. For what outsiders may do
 * before anybody knows who they are.
 */
export interface Limiter {
  /** Count one. When there were too many: when to come again (epoch ms); then it is not counted. */
  take(): number | undefined;
  /** Nothing was counted in the last minute. */
  idle(): boolean;
}

/** `perMinute(60, clock.monotonic)` */
export function perMinute(most: number, now: () => number): Limiter {
  let times: number[] = [];
  return {
    take() {
      const at = now();
      times = times.filter((time) => at - time < windowMs);
      if (times.length >= most) return (times[0] ?? at) + windowMs;
      times.push(at);
      return undefined;
    },
    idle: () => now() - (times.at(-1) ?? -Infinity) >= windowMs,
  };
}

/** The same for each of many, and for all of them together: who takes too much takes it from no one else. */
export interface GroupLimiter {
  take(who: string): number | undefined;
}

/**
 * `perMinuteEach({each: 30, all: 120}, clock.monotonic)`. Of more than a thousand in a minute, those beyond
 * share one measure.
 */
export function perMinuteEach(
  { each, all }: { readonly each: number; readonly all: number },
  now: () => number,
): GroupLimiter {
  const whole = perMinute(all, now);
  let known = new Map<string, Limiter>();
  let since = now();
  return {
    take(who) {
      if (now() - since >= windowMs) {
        known = new Map([...known].filter(([, limiter]) => !limiter.idle()));
        since = now();
      }
      const name = known.has(who) || known.size < membersMax ? who : '';
      const own = known.get(name) ?? perMinute(each, now);
      known.set(name, own);
      return own.take() ?? whole.take();
    },
  };
}

const membersMax = 1_000;
const windowMs = 60_000;
