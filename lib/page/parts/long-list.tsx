import { useSignal } from '@preact/signals';
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';

export interface LongListProps<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** About what a row has, in pixels: measured once it is there. */
  readonly heightPx: number;
  /** `(item, at) => <li key={item.id} {...at}>…</li>` */
  readonly row: (item: Item, at: RowPlace) => ComponentChildren;
  /** Of a table; default a list. */
  readonly of?: 'table';
  readonly class?: string;
  readonly label?: string;
  readonly control?: RefObject<LongListControl | null>;
  /** Which rows are in the page, whenever others are: what is read piece by piece is read where one looks. */
  readonly onRange?: (from: number, to: number) => void;
}

/** What each row carries. */
export interface RowPlace {
  readonly 'data-index': number;
  readonly 'aria-posinset'?: number;
  readonly 'aria-setsize'?: number;
  readonly 'aria-rowindex'?: number;
}

export interface LongListControl {
  /** Bring a row into view. */
  readonly reveal: (index: number) => void;
}

/**
 * The rows of a list that scrolls with the page, or with a box around it: of any length, and only those that can be
 * seen are in the page. Of a table it is the body. A short list is there as a whole.
 */
export function LongList<Item>({
  items,
  keyOf,
  heightPx,
  row,
  of,
  label,
  control,
  onRange,
  ...rest
}: LongListProps<Item>) {
  const keys = useMemo(() => items.map(keyOf), [items]);
  const { list, from, to, above, below, reveal } = useRange(keys, heightPx);
  useLayoutEffect(() => {
    if (control !== undefined) control.current = { reveal };
  });
  useEffect(() => onRange?.(from, to), [from, to]);
  const count = items.length;
  const rows = items.slice(from, to).map((item, n) =>
    row(
      item,
      of === 'table'
        ? { 'data-index': from + n, 'aria-rowindex': from + n + 2 } // after the head
        : { 'data-index': from + n, 'aria-posinset': from + n + 1, 'aria-setsize': count },
    ),
  );
  if (of !== 'table')
    return (
      <ul
        {...rest}
        ref={list as RefObject<HTMLUListElement>}
        aria-label={label}
        style={{
          paddingTop: above === 0 ? undefined : `${above}px`,
          paddingBottom: below === 0 ? undefined : `${below}px`,
        }}
      >
        {rows}
      </ul>
    );
  return (
    <tbody {...rest} ref={list as RefObject<HTMLTableSectionElement>}>
      {above > 0 && <tr key="above" class="gap" style={{ height: `${above}px` }} />}
      {rows}
      {below > 0 && <tr key="below" class="gap" style={{ height: `${below}px` }} />}
    </tbody>
  );
}

function useRange(keys: readonly string[], heightPx: number) {
  const count = keys.length;
  const list = useRef<HTMLElement>(null);
  const measured = useRef(new Map<string, number>());
  // By place as well: all of them are summed up in each frame in which one scrolls
  const heights = useMemo(() => keys.map((key) => measured.current.get(key) ?? heightPx), [keys]);
  const range = useSignal({ from: 0, to: firstRows });
  const turns = useRef(0);
  const heightOf = (index: number): number => heights[index] ?? heightPx;
  const sum = (from: number, to: number): number => {
    let height = 0;
    for (let index = from; index < to; index += 1) height += heightOf(index);
    return height;
  };

  const settle = (): void => {
    const element = list.current;
    if (element === null || count <= shortMax) return;
    measure(element, count, (index, height) => {
      measured.current.set(keys[index] as string, height);
      heights[index] = height;
    });
    let top = element.getBoundingClientRect().top;
    let from = 0;
    while (from < count - 1 && top + heightOf(from) < -marginPx) top += heightOf(from++);
    let to = from;
    while (to < count && top < innerHeight + marginPx) top += heightOf(to++);
    if ((from === range.value.from && to === range.value.to) || turns.current === turnsMax) return;
    if (turns.current === 0)
      requestAnimationFrame(() => {
        turns.current = 0;
      });
    turns.current += 1;
    range.value = { from, to };
  };
  const settled = useRef(settle);
  settled.current = settle;
  useLayoutEffect(settle);
  useEffect(() => {
    let frame = 0;
    const soon = (): void => {
      if (frame === 0)
        frame = requestAnimationFrame(() => {
          frame = 0;
          settled.current();
        });
    };
    document.addEventListener('scroll', soon, { capture: true, passive: true }); // of the page and of any box
    addEventListener('resize', soon);
    return () => {
      document.removeEventListener('scroll', soon, { capture: true });
      removeEventListener('resize', soon);
      cancelAnimationFrame(frame);
    };
  }, []);

  const reveal = (index: number): void => {
    const element = list.current;
    const scroller = element && scrollerOf(element);
    if (element === null || !scroller) return;
    const top = element.getBoundingClientRect().top + sum(0, index);
    const isRoot = scroller === document.scrollingElement;
    const seen = isRoot ? { top: 0, bottom: innerHeight } : scroller.getBoundingClientRect();
    if (top < seen.top) scroller.scrollTop += top - seen.top;
    else if (top + heightOf(index) > seen.bottom) scroller.scrollTop += top + heightOf(index) - seen.bottom;
    settle();
    // There now, and as high as it is
    requestAnimationFrame(() =>
      element.querySelector(`:scope > [data-index="${index}"]`)?.scrollIntoView({ block: 'nearest' }),
    );
  };
  const isShort = count <= shortMax;
  const to = isShort ? count : Math.min(count, range.value.to);
  const from = isShort ? 0 : Math.min(range.value.from, to);
  return { list, from, to, above: sum(0, from), below: sum(to, count), reveal };
}

/**
 * From the top of one row to that of the next: with what is between them. Nothing is after the last of all; the last in
 * the page waits until the one after it is there, or it would be higher and lower in turn.
 */
function measure(list: Element, count: number, take: (index: number, height: number) => void): void {
  const rows = [...list.children].filter(
    (row): row is HTMLElement => 'index' in (row as HTMLElement).dataset,
  );
  const places = rows.map((row) => row.getBoundingClientRect());
  rows.forEach((row, n) => {
    const { top, height } = places[n] as DOMRect;
    const next = places[n + 1]?.top;
    const index = Number(row.dataset['index']);
    if (index < count && (next !== undefined || index === count - 1))
      take(index, next === undefined ? height : next - top);
  });
}

/** What moves when the list is scrolled. */
function scrollerOf(list: Element): Element | null {
  for (let at = list.parentElement; at !== null; at = at.parentElement)
    if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  return document.scrollingElement;
}

/** So many are in the page without a look at where they are. */
const shortMax = 12;
const firstRows = 12;
const marginPx = 120;
/** Ranges in one frame of the screen: rows whose heights depend on each other might go back and forth for ever. */
const turnsMax = 10;
