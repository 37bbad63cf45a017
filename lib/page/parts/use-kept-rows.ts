import { useRef } from 'preact/hooks';
import type { RefObject } from 'preact';
import { now } from '../clock.js';
import { lingers } from '../action.js';
import { keptRows, type Kept } from './kept-rows.js';

/**
 * The rows of a list that are in `box`, which keep their places while the pointer is over it, and while the outcome of
 * one is shown. A change of `order` (how it is sorted and filtered) puts all in their places at once.
 */
export function useKeptRows<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { box, order = '' }: { readonly box: RefObject<HTMLElement | null>; readonly order?: string },
): readonly Kept<Item>[] {
  const before = useRef<{ readonly order: string; readonly rows: readonly Kept<Item>[] }>({
    order,
    rows: [],
  });
  void now.value; // whether the pointer is still there is looked at again each second
  const isNew = before.current.order !== order;
  const rows = keptRows(isNew ? [] : before.current.rows, items, keyOf, {
    isHeld: !isNew && isUnderPointer(box.current),
    lingers,
  });
  before.current = { order, rows };
  return rows;
}

/** A finger that has left is over nothing, whatever the browser says. */
const isUnderPointer = (box: HTMLElement | null): boolean =>
  box !== null && matchMedia('(hover: hover)').matches && box.matches(':hover');
