/**
 * Who asks. Made at the edge (gateway, embedder, kernel), carried by every event as `by`, judged by policies.
 */
export type Caller =
  /** The kernel itself, a plan or a schedule: `part` says which. */
  | { readonly type: 'system'; readonly part: string }
  /** A person with the gateway's token, or the embedding program. */
  | { readonly type: 'operator' }
  /** A person with a paired browser: the same authority as the operator. */
  | { readonly type: 'device'; readonly id: string }
  /** An agent. `ancestors` are the sessions above it, nearest first. */
  | {
      readonly type: 'session';
      readonly id: string;
      readonly employee: string | null;
      readonly ancestors: readonly string[];
    };

/**
 * Who sends an event (`by`), and with whose rights (`onBehalfOf`). Policies are given both: what someone may do
 * is judged by `onBehalfOf`, who an event may come from by `by`. The two are equal wherever no one else's
 * authority travels with an event.
 */
export interface Authority {
  /** Who sent the event. */
  readonly by: Caller;
  /** With whose rights: `by` itself, or one of those who caused it. */
  readonly onBehalfOf: Caller;
}

/**
 * With whose rights a piece of work is done, where several must be allowed what it does: the one who caused it
 * and, say, an agent whose unapproved definition says what is done. The first is the one who caused it.
 */
export type Causes = readonly [Caller, ...Caller[]];

/** Each caller once, in the order given. */
export const distinctCauses = ([first, ...others]: Causes): Causes => {
  const seen = new Set([callerName(first)]);
  return [
    first,
    ...others.filter((caller) => !seen.has(callerName(caller)) && seen.add(callerName(caller)) !== undefined),
  ];
};

/**
 * Of a stamped event, or of a caller who acts with its own rights: `authorityOf({ by: operator })`. Never
 * throws.
 * @example const policy = (event: FileEvent & Stamp) => filePolicy(event, authorityOf(event));
 */
export const authorityOf = ({ by, onBehalfOf }: { by: Caller; onBehalfOf?: Caller }): Authority => ({
  by,
  onBehalfOf: onBehalfOf ?? by,
});

/**
 * The person whose gateway it is.
 * @example await supervisor.ask('counter', 'c1', { type: 'add', n: 2 }, { by: operator });
 */
export const operator: Caller = { type: 'operator' };
/**
 * A part of the gateway as caller: `system('cron')`. Never throws.
 * @example await supervisor.ask('counter', 'c1', { type: 'add', n: 2 }, { by: system('cron') });
 */
export const system = (part: string): Caller => ({ type: 'system', part });

/**
 * A person decides: the operator or a paired browser. Never throws.
 * @example const policy = ({ by }: Stamp) => (isPerson(by) ? undefined : refuse('FORBIDDEN'));
 */
export const isPerson = (caller: Caller): boolean => caller.type === 'operator' || caller.type === 'device';

/** The same of a caller as it is written in events and logs: `operator`, `device:<id>`. */
export const isPersonName = (name: string): boolean => name === 'operator' || name.startsWith('device:');

/**
 * People and the kernel itself; everything but an agent. Never throws.
 * @example const policy = ({ by }: Stamp) => (isTrusted(by) ? undefined : refuse('FORBIDDEN'));
 */
export const isTrusted = (caller: Caller): boolean => caller.type !== 'session';

/**
 * XState's own events (results of effects, timers): the kernel alone sends them, and a policy lets them
 * through.
 */
export const fromKernel = (event: { readonly type: string; readonly by: Caller }): boolean =>
  event.by.type === 'system' && event.type.startsWith('xstate.');

/**
 * How a caller is written in events and logs: `operator`, `device:<id>`, `session:<id>`, `system:<part>`.
 * Never throws.
 * @example callerName({ type: 'device', id: 'd1' }) // 'device:d1'
 */
export function callerName(caller: Caller): string {
  switch (caller.type) {
    case 'operator':
      return 'operator';
    case 'device':
      return `device:${caller.id}`;
    case 'session':
      return `session:${caller.id}`;
    case 'system':
      return caller.part;
  }
}
