import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { Room } from '../../chart/regions.js';

/** How much of a drawing a box shows at once, and again when a window is made smaller or a phone is turned. */
export function useRoom(box: RefObject<HTMLElement | null>): Room | undefined {
  const room = useSignal<Room | undefined>(undefined);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void => {
      const [width, height] = [element.clientWidth, maxHeightOf(element)];
      if (width > 0 && (room.value?.width !== width || room.value.height !== height))
        room.value = { width, height };
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return room.value;
}

/** The box is as high as its drawing, up to what its style allows. */
export function maxHeightOf(element: HTMLElement): number {
  const most = Number.parseFloat(getComputedStyle(element).maxHeight);
  return Number.isFinite(most) ? most : element.clientHeight;
}
