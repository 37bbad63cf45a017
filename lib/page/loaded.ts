import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isTemporary, retryMs, said } from './ask.js';

/**
 * What was asked of the gateway, and what became of it. While something newer is on its way the older stands.
 */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly error: string | undefined;
}

/** What a page reads from the gateway and keeps true by its feed: `export const useLoaded = loaderOf(hear)`. */
export const loaderOf =
  <Batch extends { readonly reset: boolean }>(hear: News<Batch>['hear']): UseLoaded<Batch> =>
  (key, load, options = {}) =>
    useLoaded(hear, key, load, options);

/**
 * Ask when `key` changes, and again when something happened that `touches` it (at most five times a second, or once in
 * `restMs`), and every `everyMs` where given. The last question wins. Where the gateway does not answer it is asked
 * again by itself.
 */
export type UseLoaded<Batch> = <Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  options?: LoadOptions<Batch>,
) => Signal<Loaded<Value>>;

interface LoadOptions<Batch> {
  readonly touches?: (batch: Batch) => boolean;
  readonly everyMs?: number;
  /** Between two readings, where nearly everything touches it and each is much. */
  readonly restMs?: number;
}

function useLoaded<Value, Batch extends { readonly reset: boolean }>(
  hear: News<Batch>['hear'],
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  options: LoadOptions<Batch>,
): Signal<Loaded<Value>> {
  const loaded = useSignal<Loaded<Value>>({ value: undefined, error: undefined });
  const touches = useRef(options.touches);
  touches.current = options.touches;
  useEffect(() => {
    let end = new AbortController();
    let waiting: ReturnType<typeof setTimeout> | undefined;
    let busy = false;
    let stale = false;
    let closed = false;
    let askedAt = -Infinity;
    loaded.value = { value: undefined, error: undefined };
    const run = async (): Promise<void> => {
      waiting = undefined;
      if (busy) {
        stale = true;
        return;
      }
      busy = true;
      askedAt = performance.now();
      end = new AbortController();
      try {
        const value = await load(end.signal);
        if (!closed) loaded.value = { value, error: undefined };
      } catch (error) {
        if (!closed) loaded.value = { value: loaded.value.value, error: said(error) };
        if (!closed && isTemporary(error)) waiting ??= setTimeout(() => void run(), retryMs);
      }
      busy = false;
      if (stale && !closed) {
        stale = false;
        soon();
      }
    };
    const soon = (): void => {
      const restMs = askedAt + (options.restMs ?? 0) - performance.now();
      waiting ??= setTimeout(() => void run(), Math.max(200, restMs));
    };
    const deaf = hear((batch) => {
      if (batch.reset || touches.current?.(batch) === true) soon();
    });
    const timer =
      options.everyMs === undefined
        ? undefined
        : setInterval(() => {
            if (document.visibilityState === 'visible') soon();
          }, options.everyMs);
    void run();
    return () => {
      closed = true;
      deaf();
      clearTimeout(waiting);
      clearInterval(timer);
      end.abort();
    };
  }, [key]);
  return loaded;
}

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
