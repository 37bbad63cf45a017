import { setTimeout as wait } from 'node:timers/promises';
import type { Fleet } from './fleet.js';

/**
 * Reads over HTTP through every node at once, no matter who owns the home: what people and agents meet when it changes hands.
 * A standby forwards; while there is no owner it holds what comes.
 */
export interface Pulse {
  /** The longest time, in milliseconds, in which no node answered; since `from`, milliseconds of `performance`. */
  silenceSince(from: number): number;
  end(): Promise<void>;
}

export function startPulse(fleet: Fleet): Pulse {
  let answers: number[] = [];
  let isOver = false;
  const read = async (url: string): Promise<void> => {
    while (!isOver) {
      const answered = await fetch(`${url}/api/work-items?limit=1`, {
        headers: { authorization: `Bearer ${fleet.token}` },
        signal: AbortSignal.timeout(5_000),
      })
        .then(async (answer) => {
          await answer.arrayBuffer();
          return answer.ok;
        })
        .catch(() => false);
      if (answered) answers.push(performance.now());
      await wait(10);
    }
  };
  const reading = Promise.all(fleet.nodes.map(({ url }) => read(url)));
  return {
    silenceSince(from) {
      answers = answers.filter((at) => at >= from);
      const ends = [...answers, performance.now()];
      return Math.max(0, ...ends.map((at, n) => at - (ends[n - 1] ?? from)));
    },
    async end() {
      isOver = true;
      await reading;
    },
  };
}
