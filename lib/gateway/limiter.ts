/**
 * So many in a minute and no more, counted in a sliding window of the steady clock. For what strangers may do
 * before anybody knows who they are.
 */
export interface Limiter {
  /** Count one. When there were too many: when to come again (epoch ms); then it is not counted. */
  take(): number | undefined;
}

/** `perMinute(60, world.steady)` */
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
  };
}

const windowMs = 60_000;
