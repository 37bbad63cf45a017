import type { Point } from './drawing.js';

/** How much of a drawing is seen at once, in its own units. */
export interface Room {
  readonly width: number;
  readonly height: number;
}

/** Where each of some blocks stands, and how large all of them are. */
export interface Rows extends Room {
  readonly places: readonly Point[];
}

/**
 * Parallel regions in rows. Without a `room` as many stand side by side as `rowWidthMax` holds; in a room as many as
 * show all of them largest: the two regions of a work item beside each other on a wide screen, below each other on a
 * phone.
 *
 * `inRows([{width: 900, height: 400}, {width: 700, height: 300}], {width: 1000, height: 900}).places` is
 * `[{x: 0, y: 0}, {x: 0, y: 414}]`.
 */
export function inRows(blocks: readonly Room[], room?: Room): Rows {
  if (room === undefined) return rowsOf(blocks, rowWidthMax);
  let best: Rows | undefined;
  for (let first = 0; first < blocks.length; first += 1)
    for (let last = first; last < blocks.length; last += 1) {
      const rows = rowsOf(blocks, widthOf(blocks.slice(first, last + 1)));
      if (best === undefined || scaleIn(room, rows) > scaleIn(room, best)) best = rows;
    }
  return best ?? { width: 0, height: 0, places: [] };
}

const rowWidthMax = 1_300;
const gap = 14;

const widthOf = (blocks: readonly Room[]): number =>
  blocks.reduce((sum, { width }) => sum + width + gap, -gap);

/** How large all of it can be shown. */
const scaleIn = (room: Room, { width, height }: Room): number =>
  Math.min(1, room.width / width, room.height / height);

function rowsOf(blocks: readonly Room[], widthMax: number): Rows {
  const places: Point[] = [];
  let [x, y, across, down] = [0, 0, 0, 0];
  for (const { width, height } of blocks) {
    if (x > 0 && x + width > widthMax) [x, y] = [0, y + down + gap];
    if (x === 0) down = 0;
    places.push({ x, y });
    down = Math.max(down, height);
    across = Math.max(across, x + width);
    x += width + gap;
  }
  return { width: across, height: y + down, places };
}
