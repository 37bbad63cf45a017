import { StoreError, type Store, type StoreState } from './contract.js';

/**
 * A store that fails where a test says so. `before`: the write leaves nothing behind. `after`: it was
 * written, but the answer is lost, as when a process dies between the fsync and the reply. `hold`: it waits
 * until `release()`.
 */
export interface Faults {
  /** Which write fails, counted from 1; every one where absent and `mode` is set. */
  readonly failAt?: number;
  /** What becomes of the write: not done, done but not answered, or held until `release()`. */
  readonly mode: 'before' | 'after' | 'hold';
}

/** A store that fails where a test says so. */
export interface FaultyStore extends Store {
  /** From now on (`failAt` counts from here). `undefined` ends all faults. */
  fail(faults: Faults | undefined): void;
  /** Let held writes go on. */
  release(): void;
  /** How many groups were offered so far. */
  readonly offered: number;
}

/**
 * `faultyStore(memoryStore(), {failAt: 3, mode: 'before'})` Rejects as it is told to: a `StoreError`
 * `STORE_UNAVAILABLE`.
 * @example const store = faultyStore(memoryStore(), { failAt: 3, mode: 'before' });
 */
export function faultyStore(inner: Store, faults?: Faults): FaultyStore {
  let plan = faults;
  let since = 0;
  let offered = 0;
  let state: StoreState = inner.state;
  let held: (() => void)[] = [];
  const listeners = new Set<(state: StoreState) => void>();
  const become = (next: StoreState): void => {
    state = next;
    for (const listener of listeners) listener(next);
  };
  inner.onState(become);
  /** What a real store does after a failed write: refuse, look at itself, go on. */
  const stumble = (code: 'STORE_UNAVAILABLE' | 'OUTCOME_UNKNOWN'): StoreError => {
    become({ state: 'recovering', reason: 'injected fault' });
    queueMicrotask(() => become(inner.state));
    return new StoreError(code, 'injected fault');
  };

  return {
    get head() {
      return inner.head;
    },
    get state() {
      return state;
    },
    get offered() {
      return offered;
    },
    async write(group) {
      offered += 1;
      since += 1;
      const active =
        plan !== undefined && (plan.failAt === undefined || plan.failAt === since) ? plan : undefined;
      if (active?.mode === 'before') throw stumble('STORE_UNAVAILABLE');
      if (active?.mode === 'hold') await new Promise<void>((resolve) => held.push(resolve));
      await inner.write(group);
      if (active?.mode === 'after') throw stumble('OUTCOME_UNKNOWN');
    },
    get: (key) => inner.get(key),
    getMany: (wanted) => inner.getMany(wanted),
    page: (range) => inner.page(range),
    count: (range) => inner.count(range),
    authority: () => inner.authority?.() ?? true,
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => inner.close(),
    fail(next) {
      plan = next;
      since = 0;
    },
    release() {
      const waiting = held;
      held = [];
      for (const go of waiting) go();
    },
  };
}
