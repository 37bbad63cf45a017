import { walk } from './walk.js';
import type { Supervisor } from '../supervisor/contract.js';

/**
 * How many actors of a kind are in which status: counted once from the keys of its `status` list, then kept up to date
 * from the log, so that a total costs the same however many there are. Only counts are remembered, no ids. Nobody asks
 * for a while: it is dropped, and counted anew when somebody does.
 */
export interface Census {
  counts(): Promise<ReadonlyMap<string, number>>;
}

/** `statusOf` reads the status word from a state value of the log. One per supervisor and kind. */
export function censusOf(supervisor: Supervisor, kind: string, statusOf: (value: unknown) => string): Census {
  const known = censuses.get(supervisor) ?? new Map<string, Census>();
  censuses.set(supervisor, known);
  const census = known.get(kind) ?? openCensus(supervisor, kind, statusOf);
  known.set(kind, census);
  return census;
}

const censuses = new WeakMap<object, Map<string, Census>>();
const idleMsMax = 60_000;

interface Count {
  readonly counts: Map<string, number>;
  /** Position in the log up to which the counts hold. */
  position: number;
  askedAt: number;
  /** Called at every step and at the end. */
  readonly waiting: Set<() => void>;
  ended: boolean;
}

function openCensus(supervisor: Supervisor, kind: string, statusOf: (value: unknown) => string): Census {
  let current: Promise<Count> | undefined;

  /** What is committed while the keys are read is settled from the log: the last word about an actor counts. */
  async function begin(): Promise<Count> {
    const since = supervisor.status.seq;
    const seen = new Map<string, string>();
    for await (const { id, key } of walk(supervisor, kind, { index: 'status', most: Infinity })) seen.set(id, key.slice(0, key.indexOf('/')));
    const count: Count = { counts: new Map(), position: since, askedAt: performance.now(), waiting: new Set(), ended: false };
    const until = supervisor.status.seq;
    void follow(count, until, seen).catch(() => undefined).finally(() => {
      count.ended = true; // a fault too ends this count; the next question counts anew
      current = undefined;
      for (const wake of [...count.waiting]) wake();
    });
    await reached(count, until);
    return count;
  }

  async function follow(count: Count, until: number, seen: Map<string, string>): Promise<void> {
    let counting = true;
    const settle = (): void => {
      counting = false;
      for (const status of seen.values()) add(count.counts, status, 1);
      seen.clear();
    };
    if (count.position >= until) settle();
    for await (const { seq, kind: of, id, from, to } of supervisor.watch({ since: count.position })) {
      if (of === kind && counting) seen.set(id, statusOf(to));
      else if (of === kind) {
        if (from !== null) add(count.counts, statusOf(from), -1);
        add(count.counts, statusOf(to), 1);
      }
      if (counting && seq >= until) settle();
      count.position = seq;
      for (const wake of [...count.waiting]) wake();
      if (!counting && performance.now() - count.askedAt > idleMsMax) return;
    }
  }

  return {
    async counts() {
      const count = await (current ??= begin().catch((error: unknown) => {
        current = undefined;
        throw error;
      }));
      count.askedAt = performance.now();
      await reached(count, supervisor.status.seq); // whoever saw a commit finds it counted
      return count.counts;
    },
  };
}

function reached(count: Count, seq: number): Promise<void> {
  if (count.position >= seq || count.ended) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      if (count.position < seq && !count.ended) return;
      count.waiting.delete(wake);
      resolve();
    };
    count.waiting.add(wake);
  });
}

const add = (counts: Map<string, number>, status: string, by: number): void => void counts.set(status, (counts.get(status) ?? 0) + by);
