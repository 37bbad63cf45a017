/**
 * Supervision as data and one pure function, after Erlang/OTP: what to do when a child of a supervisor
 * failed. Restarting a durable actor means reloading its last commit; nothing here does it, this only
 * decides.
 */
export type Strategy = 'one_for_one' | 'one_for_all' | 'rest_for_one';

/** How failures are met: which children are restarted, and how often before it is given up. */
export interface Supervision {
  /** Which children are restarted when one fails. */
  readonly strategy: Strategy;
  /** More than `intensity` failures within `periodSeconds`: give up (halt the actor, or escalate). */
  readonly intensity: number;
  /** The time in which failures are counted. */
  readonly periodSeconds: number;
  /** `permanent`: always restarted; `transient`: after a failure only; `temporary`: never. */
  readonly restart: 'permanent' | 'transient' | 'temporary';
  /**
   * Delay before the n-th restart within the period: `min(backoffMsMax, backoffMs * 2^(n-1))`; 0 = at once.
   */
  readonly backoffMs: number;
  /** Longest delay. */
  readonly backoffMsMax: number;
  /** Whose failure this is in the end: `halt` stops the child alone, `escalate` fails its supervisor too. */
  readonly giveUp: 'halt' | 'escalate';
}

/**
 * Restart one by one, at most 5 times in 60 seconds.
 * @example const kind = defineKind({ ...counter, supervision: { ...defaultSupervision, intensity: 10 } });
 */
export const defaultSupervision: Supervision = {
  strategy: 'one_for_one',
  intensity: 5,
  periodSeconds: 60,
  restart: 'transient',
  backoffMs: 0,
  backoffMsMax: 30_000,
  giveUp: 'halt',
};

/** What the supervision decided about a failure. */
export type Verdict =
  /** Reload these children, in start order (stopped in reverse order first), after the delay. */
  | {
      readonly type: 'restart';
      readonly ids: readonly string[];
      readonly delayMs: number;
      readonly failures: readonly number[];
    }
  /** Too many failures, or a child that is never restarted and whose end no one awaits. */
  | { readonly type: 'halt' | 'escalate' | 'drop'; readonly failures: readonly number[] };

/**
 * Decide on the failure (or, with `normal`, the normal end) of one child.
 * Never throws.
 *
 * @param children ids in start order
 * @param failures times (epoch ms) of earlier failures; older ones than the period are forgotten
 * @example
 *   supervise(defaultSupervision, ['a', 'b'], [], 'a', false, Date.now());
 *   // { type: 'restart', ids: ['a'], delayMs: 0, … }
 */
export function supervise(
  spec: Supervision,
  children: readonly string[],
  failures: readonly number[],
  failedId: string,
  normal: boolean,
  now: number,
): Verdict {
  const recent = failures.filter((at) => now - at < spec.periodSeconds * 1000);
  if (normal && spec.restart !== 'permanent') return { type: 'drop', failures: recent };
  if (spec.restart === 'temporary') return { type: 'drop', failures: recent };
  const counted = [...recent, now];
  if (counted.length > spec.intensity) return { type: spec.giveUp, failures: counted };
  const delayMs =
    spec.backoffMs === 0 ? 0 : Math.min(spec.backoffMsMax, spec.backoffMs * 2 ** (counted.length - 1));
  return { type: 'restart', ids: affected(spec.strategy, children, failedId), delayMs, failures: counted };
}

function affected(strategy: Strategy, children: readonly string[], failedId: string): readonly string[] {
  if (strategy === 'one_for_all') return children;
  if (strategy === 'one_for_one') return [failedId];
  return children.slice(Math.max(0, children.indexOf(failedId)));
}
