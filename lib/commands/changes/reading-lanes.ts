import { refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * What git is asked of folders: of one session one reading after the other, and of all together no more than a few. An
 * agent that asked sixty times at once for what it had changed held a gigabyte and everyone else up. Who asks seldom
 * comes before who asks often, and those who ask the same while it waits are answered together.
 * @example await readingOf(app)('s1', 'changes', () => read())
 */
export function readingOf(owner: object): Reading {
  const known = readings.get(owner);
  if (known !== undefined) return known;
  const waiting: Waiting[] = [];
  const busy = new Set<string>();
  const waitingFor = (name: string): number => waiting.filter(({ sessionId }) => sessionId === name).length;

  function next(): void {
    const free = waiting.filter(({ sessionId }) => !busy.has(sessionId));
    const [one] = free.sort((first, second) => waitingFor(first.sessionId) - waitingFor(second.sessionId));
    if (one === undefined || busy.size >= atOnceMax) return;
    waiting.splice(waiting.indexOf(one), 1);
    busy.add(one.sessionId);
    void one.run().finally(() => {
      busy.delete(one.sessionId);
      next();
    });
    next();
  }

  async function made<Value>(
    sessionId: string,
    what: string,
    read: () => Promise<Value | Refusal>,
  ): Promise<Value | Refusal> {
    const same = waiting.find((one) => one.sessionId === sessionId && one.what === what);
    if (same !== undefined) return same.answer as Promise<Value | Refusal>;
    if (waitingFor(sessionId) >= waitingMax) return refuse('BUSY');
    let begin = (): void => undefined;
    const answer = new Promise<void>((resolve) => (begin = resolve)).then(read);
    const over = answer.then(
      () => undefined,
      () => undefined,
    );
    const run = (): Promise<void> => {
      begin();
      return over;
    };
    waiting.push({ sessionId, what, answer, run });
    next();
    return answer;
  }
  readings.set(owner, made);
  return made;
}

export type Reading = <Value>(
  sessionId: string,
  /** Names what is read of it. */
  what: string,
  read: () => Promise<Value | Refusal>,
) => Promise<Value | Refusal>;

interface Waiting {
  readonly sessionId: string;
  readonly what: string;
  readonly answer: Promise<unknown>;
  readonly run: () => Promise<void>;
}

const readings = new WeakMap<object, Reading>();
const atOnceMax = 4;
/** A page asks for as many of the files that it shows. */
const waitingMax = 16;
