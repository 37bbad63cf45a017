/** Who wants to know what happened: `const { hear, notify } = createNews<Batch>()`. */
export function createNews<Batch>(): News<Batch> {
  const listeners = new Set<(batch: Batch) => void>();
  return {
    hear(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    notify(batch) {
      for (const listener of [...listeners]) listener(batch);
    },
  };
}

export interface News<Batch> {
  /** Everything from now on. Returns the way to stop. */
  readonly hear: (listener: (batch: Batch) => void) => () => void;
  readonly notify: (batch: Batch) => void;
}
