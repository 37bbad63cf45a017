import type { Area, Box, Drawing } from '../../chart/drawing.js';
import { type as sizes, widthOf } from '../../chart/drawing.js';

/** The boxes of the innermost states in which an actor stands: one of each region. */
export function boxesOf({ boxes }: Drawing, lit: readonly string[]): readonly Box[] {
  const inner = lit.filter((path) => !lit.some((other) => other.startsWith(`${path}.`)));
  return boxes.filter(({ path, shape }) => shape !== 'any' && shape !== 'root' && inner.includes(path));
}

/**
 * What should be seen, the best first: where it stands in every region, with the names of the states around and the way
 * that it took; the same without the names; without the way; without the regions that rest; one state alone.
 */
export function areasOf(drawing: Drawing, lit: readonly string[], taken: readonly string[]): readonly Area[] {
  const all = boxesOf(drawing, lit);
  const moving = all.filter(({ path }) => !/\.(?:none|idle|off)$/.test(path));
  const speaking = moving.length > 0 ? moving : all;
  const [first] = speaking;
  if (first === undefined) return [];
  const ways = drawing.arrows.filter(({ edges }) => edges.some((edge) => taken.includes(edge)));
  const way = ways.flatMap(({ points }) => points);
  const frames = drawing.boxes.filter(
    ({ path, shape }) => lit.includes(path) && shape !== 'any' && !all.some((box) => box.path === path),
  );
  return [
    around([...all.flatMap(cornersOf), ...frames.map(titleOf).flatMap(cornersOf), ...way]),
    around([...all.flatMap(cornersOf), ...way]),
    around(all.flatMap(cornersOf)),
    around([...speaking.flatMap(cornersOf), ...way]),
    around(speaking.flatMap(cornersOf)),
    first,
  ];
}

/** The part of a state that says which one it is. */
export const titleOf = ({ x, y, width, title }: Box): Area => ({
  x,
  y,
  width: Math.min(width, widthOf(title, 'title') + 2 * sizes.pad),
  height: sizes.titleHeight,
});

/** Can all of it be seen there, but for a hair? */
export const isWithinArea = (inner: Area, outer: Area): boolean =>
  inner.x >= outer.x - hair &&
  inner.y >= outer.y - hair &&
  inner.x + inner.width <= outer.x + outer.width + hair &&
  inner.y + inner.height <= outer.y + outer.height + hair;

const hair = 2;

const cornersOf = ({ x, y, width, height }: Area): { readonly x: number; readonly y: number }[] => [
  { x, y },
  { x: x + width, y: y + height },
];

function around(points: readonly { readonly x: number; readonly y: number }[]): Area {
  const [left, top] = [Math.min(...points.map(({ x }) => x)), Math.min(...points.map(({ y }) => y))];
  return {
    x: left,
    y: top,
    width: Math.max(...points.map(({ x }) => x)) - left,
    height: Math.max(...points.map(({ y }) => y)) - top,
  };
}
