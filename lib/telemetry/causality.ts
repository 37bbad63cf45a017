import { AsyncLocalStorage } from 'node:async_hooks';
import type { Causality } from '../environment.js';
import type { TraceContext } from './spans.js';

/** What is carried out right now, for spans and for lines of the log. */
export interface Account {
  readonly cause: string;
  readonly notes: Record<string, string>;
  context?: TraceContext | undefined;
  isOver: boolean;
}

export interface KnownCausality extends Causality {
  readonly account: () => Account | undefined;
}

/**
 * On whose account the code runs that runs right now. What is over is on no one's account any more: a follower that a
 * request woke reads on for ever, and what it does later is not that request's doing.
 */
export function createCausality(
  contextOf: (cause: string) => Promise<TraceContext | undefined>,
): KnownCausality {
  const storage = new AsyncLocalStorage<Account>();
  const account = (): Account | undefined => {
    const now = storage.getStore();
    return now?.isOver === true ? undefined : now;
  };
  return {
    account,
    current: () => account()?.cause,
    async within(cause, run) {
      const now: Account = { cause, notes: {}, isOver: false };
      void contextOf(cause).then(
        (context) => (now.context = context),
        () => undefined, // lines of the log go without it
      );
      try {
        return await storage.run(now, run);
      } finally {
        now.isOver = true;
      }
    },
  };
}
