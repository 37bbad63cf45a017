import { useSignal, type ReadonlySignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Area } from '../../chart/drawing.js';
import type { Focus } from './chart-areas.js';
import { maxHeightOf } from './room.js';

/** How large a drawing is shown in a box that scrolls, and the ways to change it. */
export interface Zoom {
  readonly scale: number;
  /** `by(1.25)`: larger, around the middle of what is seen. */
  readonly by: (factor: number) => void;
  /** All of it. */
  readonly fit: () => void;
  /** As it began: what matters is seen, in a size that can be read. */
  readonly home: () => void;
  /** A part of it, in a size that can be read; `whole`: all of that part, in whatever size. */
  readonly show: (area: Focus, options?: { readonly whole?: boolean }) => void;
  /** What of it is in the box now, in its own units. */
  readonly seen: ReadonlySignal<Area | undefined>;
}

/**
 * Zoom by pinching, by the wheel with Ctrl, by keys (+, -, 0) and by buttons; what is under the pointer stays there.
 * A mouse drags the drawing; fingers, keys and the wheel scroll the box as they do everywhere. It begins with all of it
 * in view, or with the first of `focus` that can be read at that size, and shows it again when that changes.
 */
export function useZoom(
  box: RefObject<HTMLElement | null>,
  { width, height }: { readonly width: number; readonly height: number },
  focus: readonly Focus[],
): Zoom {
  const scale = useSignal(1);
  const held = useRef<Held>(undefined);

  const to = (next: number, at?: { readonly clientX: number; readonly clientY: number }): void => {
    const element = box.current;
    if (element === null) return;
    const frame = element.getBoundingClientRect();
    const left = at === undefined ? element.clientWidth / 2 : at.clientX - frame.left;
    const top = at === undefined ? element.clientHeight / 2 : at.clientY - frame.top;
    held.current = {
      x: (element.scrollLeft + left) / scale.value,
      y: (element.scrollTop + top) / scale.value,
      left,
      top,
    };
    scale.value = Math.min(scaleMax, Math.max(scaleMin, next));
  };
  useLayoutEffect(() => {
    const at = held.current;
    held.current = undefined;
    if (at === undefined || box.current === null) return;
    box.current.scrollLeft = at.x * scale.value - at.left;
    box.current.scrollTop = at.y * scale.value - at.top;
  }, [scale.value]);

  const fit = (): void => {
    const element = box.current;
    if (element === null || width === 0) return;
    to(Math.min(1, element.clientWidth / width, maxHeightOf(element) / height));
  };
  const whole = { x: 0, y: 0, width, height };
  const roomFor = (element: HTMLElement, one: Area): number => {
    const around = one === whole ? 0 : 40;
    return Math.min(element.clientWidth / (one.width + around), maxHeightOf(element) / (one.height + around));
  };
  const show: Zoom['show'] = (area, { whole: isWhole = false } = {}) => {
    const element = box.current;
    if (element === null || width === 0) return;
    const next = Math.min(1, Math.max(isWhole ? scaleMin : leastOf(area), roomFor(element, area)));
    held.current = {
      x: area.x + area.width / 2,
      y: area.y + area.height / 2,
      left: element.clientWidth / 2,
      top: Math.min(maxHeightOf(element), height * next) / 2,
    };
    if (scale.value !== next) scale.value = next;
    else {
      element.scrollLeft = held.current.x * next - held.current.left;
      element.scrollTop = held.current.y * next - held.current.top;
    }
  };
  const home = (): void => {
    const element = box.current;
    const last = focus.at(-1);
    if (element === null || last === undefined) return;
    show([whole, ...focus].find((one) => roomFor(element, one) >= leastOf(one)) ?? last);
  };
  const areas = focus.map((one) => [one.x, one.y, one.width, one.height].join()).join(' ');
  useEffect(home, [areas, width, height]);
  useEffect(() => (box.current === null ? undefined : listen(box.current, scale, to, fit)), [width, height]);
  const seen = useSeen(box, scale);
  return { scale: scale.value, by: (factor) => to(scale.value * factor), fit, home, show, seen };
}

/**
 * What is in the box, in the units of the drawing. It is said only when it changes: each change draws again what reads
 * it.
 */
function useSeen(
  box: RefObject<HTMLElement | null>,
  scale: ReadonlySignal<number>,
): ReadonlySignal<Area | undefined> {
  const seen = useSignal<Area | undefined>(undefined);
  const measure = (): void => {
    const element = box.current;
    if (element === null) return;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = element;
    const [x, y, width, height] = [scrollLeft, scrollTop, clientWidth, clientHeight].map(
      (px) => px / scale.value,
    ) as [number, number, number, number];
    const before = seen.value;
    if (before?.x !== x || before.y !== y || before.width !== width || before.height !== height)
      seen.value = { x, y, width, height };
  };
  useLayoutEffect(measure);
  useEffect(() => {
    const element = box.current;
    element?.addEventListener('scroll', measure, { passive: true });
    return () => element?.removeEventListener('scroll', measure);
  }, []);
  return seen;
}

/** A point of the drawing, and where in the box it stays. */
interface Held {
  readonly x: number;
  readonly y: number;
  readonly left: number;
  readonly top: number;
}

const scaleMin = 0.15;
const scaleMax = 3;
/** Below this size words cannot be read. */
const readable = 0.7;
const leastOf = ({ leastScale = readable }: Focus): number => leastScale;
const step = 1.25;
/** A hand that clicks moves the mouse as far. */
const clickPx = 4;

function listen(
  element: HTMLElement,
  scale: { readonly value: number },
  to: (next: number, at?: { readonly clientX: number; readonly clientY: number }) => void,
  fit: () => void,
): () => void {
  const end = new AbortController();
  const { signal } = end;
  const fingers = new Map<number, PointerEvent>();
  let apart = 0;
  let draggedPx = 0;
  element.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls; a pinch on a touchpad comes with Ctrl
      event.preventDefault();
      to(scale.value * Math.exp(-event.deltaY / 300), event);
    },
    { signal, passive: false },
  );
  element.addEventListener(
    'keydown',
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '+' || event.key === '=') to(scale.value * step);
      else if (event.key === '-') to(scale.value / step);
      else if (event.key === '0') fit();
      else return;
      event.preventDefault();
    },
    { signal },
  );
  element.addEventListener(
    'pointerdown',
    (event) => {
      fingers.set(event.pointerId, event);
      apart = distanceOf(fingers);
      draggedPx = 0;
    },
    { signal },
  );
  // What was dragged lies under the pointer still, and was not clicked
  element.addEventListener('click', (event) => draggedPx > clickPx && event.stopPropagation(), {
    signal,
    capture: true,
  });
  element.addEventListener(
    'pointermove',
    (event) => {
      const before = fingers.get(event.pointerId);
      if (before === undefined) return;
      fingers.set(event.pointerId, event);
      if (fingers.size === 2) {
        const now = distanceOf(fingers);
        if (apart > 0) to((scale.value * now) / apart, middleOf(fingers));
        apart = now;
      } else if (event.pointerType === 'mouse' && event.buttons === 1) {
        draggedPx += Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
        element.scrollLeft -= event.clientX - before.clientX;
        element.scrollTop -= event.clientY - before.clientY;
      }
    },
    { signal },
  );
  for (const gone of ['pointerup', 'pointercancel', 'pointerleave'] as const)
    element.addEventListener(gone, ({ pointerId }) => fingers.delete(pointerId), { signal });
  return () => end.abort();
}

function distanceOf(fingers: ReadonlyMap<number, PointerEvent>): number {
  const [one, other] = [...fingers.values()];
  return one === undefined || other === undefined
    ? 0
    : Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
}

function middleOf(fingers: ReadonlyMap<number, PointerEvent>): { clientX: number; clientY: number } {
  const [one, other] = [...fingers.values()] as [PointerEvent, PointerEvent];
  return { clientX: (one.clientX + other.clientX) / 2, clientY: (one.clientY + other.clientY) / 2 };
}
