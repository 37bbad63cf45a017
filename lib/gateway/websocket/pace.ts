/**
 * Tells many the same. To thousands that takes a while: it is done in slices, between which what else waits for the
 * processor has its turn; and it rests afterwards, so that the more there are to be told, the more is told at once and
 * most of the processor is left to those who work.
 */
export class Pace {
  private restsUntil = 0;

  /** Resolves when it may go on; undefined: at once. */
  rest(): Promise<void> | undefined {
    const leftMs = this.restsUntil - performance.now();
    return leftMs > 0 ? new Promise((resolve) => setTimeout(resolve, leftMs).unref()) : undefined;
  }

  /** Who leaves meanwhile is told nothing more; who comes meanwhile is not told. Ends when the signal aborts. */
  async deliver<Item>(listeners: Listeners<Item>, item: Item, signal?: AbortSignal): Promise<void> {
    let tookMs = 0;
    let began = performance.now();
    for (const listener of [...listeners.keys()]) {
      if (performance.now() - began >= sliceMs) {
        tookMs += performance.now() - began;
        await new Promise((resolve) => setImmediate(resolve));
        began = performance.now();
      }
      if (signal?.aborted === true) return;
      if (listeners.has(listener)) listener(item);
    }
    const ended = performance.now();
    tookMs += ended - began;
    if (listeners.size >= many) this.restsUntil = ended + Math.min(tookMs * restFactor, restMsMax);
  }
}

type Listeners<Item> = Pick<ReadonlySet<(item: Item) => void>, 'keys' | 'has' | 'size'>;

/** Node takes in one connection each time it comes round: long slices keep new ones waiting. */
const sliceMs = 3;
/** Fewer are told of each thing at once. */
const many = 256;
/** Of what it took to tell all. */
const restFactor = 3;
const restMsMax = 1_000;
