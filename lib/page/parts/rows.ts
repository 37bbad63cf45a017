import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** Which rows of a long list are in the page: those that can be seen in its box, and some around them. */
export interface Rows {
  readonly indexes: readonly number[];
  /** The height of what is left out above and below, in pixels. */
  readonly above: number;
  readonly below: number;
  /** `<li data-index={index} ref={measure}>` in a list with `above` and `below` as padding: rows may have any height. */
  readonly measure: (row: Element | null) => void;
  /** Bring a row into view. */
  readonly reveal: (index: number, align?: 'auto' | 'center') => void;
}

/**
 * `useRows({ box, count, heightPx: 60, keyOf: (index) => entries[index].seq })`. Rows that are put in front while one
 * reads further down move nothing.
 */
export function useRows({
  box,
  count,
  heightPx,
  keyOf,
}: {
  readonly box: RefObject<HTMLElement | null>;
  readonly count: number;
  /** About what a row has; measured once it is there. */
  readonly heightPx: number;
  readonly keyOf: (index: number) => string | number;
}): Rows {
  const version = useSignal(0);
  const made = useRef<Virtualizer<HTMLElement, Element>>(undefined);
  const options = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => heightPx,
    getItemKey: keyOf,
    overscan,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    initialRect: { width: 0, height: firstPx },
    onChange: () => {
      version.value += 1;
    },
  };
  const rows = (made.current ??= new Virtualizer<HTMLElement, Element>(options));
  rows.setOptions(options);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());

  const top = useRef<string | number>(undefined);
  const first = count > 0 ? keyOf(0) : undefined;
  useEffect(() => {
    const before = top.current;
    top.current = first;
    if (before === undefined || before === first || box.current === null || box.current.scrollTop === 0)
      return;
    let put = 0;
    while (put < count && keyOf(put) !== before) put += 1;
    if (put < count) box.current.scrollTop += put * heightPx;
  }, [first]);

  void version.value;
  const items = rows.getVirtualItems();
  return {
    indexes: items.map(({ index }) => index),
    above: items[0]?.start ?? 0,
    below: rows.getTotalSize() - (items.at(-1)?.end ?? 0),
    measure: rows.measureElement,
    reveal: (index, align = 'auto') => rows.scrollToIndex(index, { align }),
  };
}

const overscan = 2;
/** Before the box is measured. */
const firstPx = 480;
