import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * A list of any length of which only what can be seen is in the page. Rows have one height, and are used
 * again for other items while one scrolls. The arrow keys move a cursor; a screen reader is told how many
 * rows there are.
 */
export interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  readonly rowHeight: number;
  readonly row: (index: number) => ComponentChildren;
  readonly open: (index: number) => void;
  /** What can be seen has changed. */
  readonly seen: (from: number, to: number) => void;
  /** The rows are the open lines of a tree: the arrow keys to the left and right close and open them. */
  readonly tree?: {
    /** From 1. */
    readonly levelOf: (index: number) => number;
    /** Undefined where there is nothing to open. */
    readonly isExpanded: (index: number) => boolean | undefined;
    readonly toggle: (index: number) => void;
  };
}

export function VirtualList({ label, count, rowHeight, row, open, seen, tree }: VirtualListProps) {
  const box = useRef<HTMLDivElement>(null);
  const first = useSignal(0);
  const height = useSignal(600);
  const cursor = useSignal(-1);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = new ResizeObserver(() => {
      height.value = Math.max(rowHeight, Math.min(element.clientHeight, rowHeight * visibleMax));
    });
    measure.observe(element);
    return () => measure.disconnect();
  }, []);
  const visible = Math.ceil(height.value / rowHeight);
  const from = Math.max(0, Math.min(first.value, count - visible) - overscan);
  const to = Math.min(count, from + visible + 2 * overscan);
  useEffect(() => seen(from, to), [from, to]);
  const settle = (): void => {
    if (cursor.value < 0 && count > 0) cursor.value = first.value;
  };
  useEffect(() => {
    if (document.activeElement === box.current) settle();
  }, [count > 0]); // who went to an empty list stands on its first row when that comes

  const move = (by: number): void => {
    const at = Math.max(0, Math.min(count - 1, cursor.value + by));
    cursor.value = at;
    const element = box.current;
    if (element === null) return;
    if (at * rowHeight < element.scrollTop) element.scrollTop = at * rowHeight;
    if ((at + 1) * rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = (at + 1) * rowHeight - element.clientHeight;
  };
  /** The step that an arrow to the side takes in a tree, where it does not open or close the line it is on. */
  const turn = (key: string): number | undefined => {
    const at = cursor.value;
    if (tree === undefined || at < 0) return undefined;
    const isOpen = tree.isExpanded(at);
    if (isOpen === (key === 'ArrowLeft')) {
      tree.toggle(at);
      return 0;
    }
    if (key === 'ArrowRight') return isOpen === true ? 1 : 0;
    let above = at - 1;
    while (above >= 0 && tree.levelOf(above) >= tree.levelOf(at)) above -= 1;
    return above < 0 ? 0 : above - at;
  };
  const press = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      j: 1,
      k: -1,
      PageDown: visible - 1,
      PageUp: 1 - visible,
      Home: -count,
      End: count,
    };
    const isSideways = event.key === 'ArrowLeft' || event.key === 'ArrowRight';
    const by = isSideways ? turn(event.key) : steps[event.key];
    if (by !== undefined) move(by);
    else if (event.key === 'Enter' && cursor.value >= 0) open(cursor.value);
    else return;
    event.preventDefault();
  };

  const slots = to - from;
  return (
    <div
      ref={box}
      class="virtual"
      role={tree === undefined ? 'listbox' : 'tree'}
      aria-label={label}
      tabIndex={0}
      onKeyDown={press}
      aria-activedescendant={cursor.value >= from && cursor.value < to ? `row-${cursor.value}` : undefined}
      onScroll={(event) => {
        first.value = Math.floor(event.currentTarget.scrollTop / rowHeight);
      }}
      onFocus={settle}
    >
      <div class="virtual-space" style={{ height: `${count * rowHeight}px` }}>
        {Array.from({ length: slots }, (_, n) => {
          const index = from + n;
          return (
            <div
              key={index % Math.max(1, slots)}
              id={`row-${index}`}
              class={`row${cursor.value === index ? ' at' : ''}`}
              {...(tree === undefined
                ? {
                    role: 'option',
                    'aria-selected': cursor.value === index,
                    'aria-posinset': index + 1,
                    'aria-setsize': count,
                  }
                : {
                    role: 'treeitem',
                    'aria-level': tree.levelOf(index),
                    'aria-expanded': tree.isExpanded(index),
                  })}
              style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
              onClick={() => open(index)}
            >
              {row(index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const overscan = 8;
/** However tall the window: rows in the page stay below two hundred. */
const visibleMax = 150;
