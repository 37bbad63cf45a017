import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../random.js';
import type { Fleet } from './fleet.js';
import type { Operation } from './linearizable.js';

/**
 * Clients that have the addresses of all nodes: each asks until it is answered, an addition again with the same key,
 * and notes when it asked first and when it was answered.
 */
export interface Clients {
  /** Of each tally. */
  readonly histories: ReadonlyMap<string, Operation[]>;
  readonly acknowledged: () => number;
  /** Jobs that were acknowledged. */
  readonly jobs: readonly string[];
  /** How a tally stands, as the owner of that moment says. */
  countOf(id: string): Promise<number>;
  /** When an answer of this epoch or a later one first came, milliseconds of `performance`. */
  firstAnswer(epoch: number): number | undefined;
  /** When the last answer of an earlier epoch came: what lies between the two is silence. */
  lastAnswerBefore(epoch: number): number | undefined;
  /** Resolves when all are answered. */
  end(): Promise<void>;
}

interface Answer {
  readonly epoch: number;
  readonly view: { readonly n: number } | null;
  /** It had been done before; `view` is as of now. */
  readonly isReplay?: boolean;
}

interface Insisted extends Answer {
  /** When this answer was asked for: the last time of all. */
  readonly askedAt: number;
}

export function startClients(fleet: Fleet, writers: number, random: Random): Clients {
  const histories = new Map<string, Operation[]>();
  /** Of each epoch the first and the last, milliseconds of `performance`. */
  const answers = new Map<number, { readonly first: number; last: number }>();
  const jobs: string[] = [];
  let acknowledged = 0;
  let over = false;

  async function insist(order: object): Promise<Insisted> {
    for (;;) {
      const askedAt = performance.now();
      // A frozen former owner is asked, too: it must not answer what is stale
      const answer = await askOnce(random.pick(fleet.nodes).counting, order);
      if (answer === undefined) {
        await wait(10);
        continue;
      }
      const now = performance.now();
      const ofEpoch = answers.get(answer.epoch) ?? { first: now, last: now };
      ofEpoch.last = now;
      answers.set(answer.epoch, ofEpoch);
      return { ...answer, askedAt };
    }
  }

  async function write(writer: number): Promise<void> {
    const id = `t${Math.floor(writer / 2)}`; // two of one tally
    const history = histories.get(id) ?? [];
    histories.set(id, history);
    for (let count = 1; !over; count += 1) {
      const isRead = random.chance(0.3);
      const askedAt = performance.now();
      const answer = await insist({ kind: 'tally', id, ...(isRead ? {} : { key: `${writer}-${count}` }) });
      const answeredAt = performance.now();
      const n = answer.view?.n ?? 0;
      if (!isRead)
        history.push({ what: 'add', n: answer.isReplay === true ? undefined : n, askedAt, answeredAt });
      if (isRead || answer.isReplay === true)
        history.push({ what: 'read', n, askedAt: answer.askedAt, answeredAt });
      acknowledged += 1;
      if (random.chance(0.02)) {
        const job = `j${writer}-${count}`;
        await insist({ kind: 'job', id: job, key: job });
        jobs.push(job);
      }
      await wait(30);
    }
  }
  const writing = Promise.all(Array.from({ length: writers }, (_, n) => write(n)));
  return {
    histories,
    acknowledged: () => acknowledged,
    jobs,
    countOf: async (id) => (await insist({ kind: 'tally', id })).view?.n ?? 0,
    firstAnswer(epoch) {
      const firsts = [...answers].filter(([of]) => of >= epoch).map(([, { first }]) => first);
      return firsts.length === 0 ? undefined : Math.min(...firsts);
    },
    lastAnswerBefore(epoch) {
      const lasts = [...answers].filter(([of]) => of < epoch).map(([, { last }]) => last);
      return lasts.length === 0 ? undefined : Math.max(...lasts);
    },
    async end() {
      over = true;
      await writing;
    },
  };
}

async function askOnce(counting: string, order: object): Promise<Answer | undefined> {
  try {
    const response = await fetch(counting, {
      method: 'POST',
      body: JSON.stringify(order),
      signal: AbortSignal.timeout(1_500),
    });
    if (response.ok) return (await response.json()) as Answer;
    await response.body?.cancel();
    return undefined;
  } catch {
    return undefined;
  }
}
