import type { Area, Box, Drawing } from '../../chart/drawing.js';
import { areaOf, type as sizes, widthOf } from '../../chart/drawing.js';

/** A part that should be seen; `leastScale` where it may be smaller than all words can be read in. */
export interface Focus extends Area {
  readonly leastScale?: number;
}

/** In which the names of states can be read still: they are written larger than what is below them. */
const forNames = 0.6;

/** The boxes of the innermost states in which an actor stands: one of each region. */
export function boxesOf({ boxes }: Drawing, lit: readonly string[]): readonly Box[] {
  const inner = lit.filter((path) => !lit.some((other) => other.startsWith(`${path}.`)));
  return boxes.filter(({ path, shape }) => shape !== 'any' && shape !== 'root' && inner.includes(path));
}

/**
 * What should be seen, the best first: where it stands in every region, with the names of the states around and
 * the step that it took; the same without the names; without the step; smaller; the names of the states alone;
 * without the regions that rest; one state alone. A step that happens while one looks (`isNew`) is seen whole, if it
 * can be with where it leads.
 */
export function areasOf(
  drawing: Drawing,
  lit: readonly string[],
  step: Step | undefined,
  isNew: boolean,
): readonly Focus[] {
  const all = boxesOf(drawing, lit);
  const moving = all.filter(({ path }) => !/\.(?:none|idle|off)$/.test(path));
  const speaking = moving.length > 0 ? moving : all;
  const [first] = speaking;
  if (first === undefined) return [];
  const way = step === undefined ? [] : cornersOf(step.area);
  const frames = drawing.boxes.filter(
    ({ path, shape }) => lit.includes(path) && shape !== 'any' && !all.some((box) => box.path === path),
  );
  const everywhere = around(all.flatMap(cornersOf));
  const whole = [
    around([...all.flatMap(cornersOf), ...frames.map(titleOf).flatMap(cornersOf), ...way]),
    around([...all.flatMap(cornersOf), ...way]),
  ];
  const names = all.map(titleOf).flatMap(cornersOf);
  const here = [
    { ...everywhere, leastScale: forNames },
    { ...around(names), leastScale: forNames },
    around([...speaking.flatMap(cornersOf), ...way]),
    around(speaking.flatMap(cornersOf)),
    first,
  ];
  return isNew && step !== undefined
    ? [
        ...whole,
        around([...speaking.flatMap(cornersOf), ...way]),
        { ...around([...names, ...way]), leastScale: forNames },
        step.area,
        everywhere,
        ...here,
      ]
    : [...whole, everywhere, ...here];
}

/** The step that was taken last, as it is drawn: its whole arrow with its words, or the lines in a box for it. */
export interface Step {
  readonly area: Area;
  /** The states at its ends; `''`: wherever it was. */
  readonly from: string;
  readonly to: string;
}

export function stepIn({ arrows, boxes }: Drawing, taken: readonly string[]): Step | undefined {
  const isTaken = ({ edges }: { readonly edges: readonly string[] }): boolean =>
    edges.some((edge) => taken.includes(edge));
  const ways = arrows.filter(isTaken);
  const [way] = ways;
  const lined = boxes.filter(({ lines }) => lines.some(isTaken));
  const isLeaf = ({ path, shape }: Box): boolean =>
    (shape === 'atomic' || shape === 'final') && ways.some(({ from, to }) => path === from || path === to);
  const points = [
    ...ways.flatMap(({ points: line, label }) => [
      ...line,
      ...(label === null ? [] : cornersOf(areaOf(label))),
    ]),
    ...boxes.filter(isLeaf).map(titleOf).flatMap(cornersOf),
    ...lined.flatMap(cornersOf),
  ];
  if (points.length === 0) return undefined;
  return { area: around(points), from: way?.from ?? '', to: way?.to ?? '' };
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
