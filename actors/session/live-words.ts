/**
 * What turns that run here have said so far: no delta is stored or sent again, so someone who comes in the middle of
 * an answer reads its beginning here. Held once, by the turn itself, for as long as it runs.
 */
export interface LiveWords {
  /** A turn of this session runs, and `read` answers what it has said. Returns the way to end that. */
  begin(sessionId: string, read: () => Words): () => void;
  /** Undefined where no turn of the session runs here. */
  of(sessionId: string): Words | undefined;
}

/** The beginning of an answer. */
export interface Words {
  /** Of the message that the answer will be, as in the deltas. */
  readonly messageId: string;
  readonly text: string;
  /** Position in all text of the turn at which `text` ends, as deltas count it in `offset`. */
  readonly end: number;
  /** Epoch milliseconds of the last of it; null where nothing was said. */
  readonly at: number | null;
}

/** `const words = createLiveWords(); const over = words.begin('s1', () => ({ … }))` */
export function createLiveWords(): LiveWords {
  const running = new Map<string, () => Words>();
  return {
    begin(sessionId, read) {
      running.set(sessionId, read);
      return () => {
        // The next turn may have begun already
        if (running.get(sessionId) === read) running.delete(sessionId);
      };
    },
    of: (sessionId) => running.get(sessionId)?.(),
  };
}
