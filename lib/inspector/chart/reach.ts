import { areaOf, type Area, type Arrow, type Box, type Point } from './drawing.js';

/**
 * States with states inside are laid out as one box, and arrows are led to its border. Here each is led on to the very
 * state that it leaves or reaches, on a straight line that meets no other box. Where there is none, it ends at the
 * border.
 */
export function reaching(
  arrows: readonly Arrow[],
  boxes: readonly Box[],
  inner: readonly Arrow[],
): readonly Arrow[] {
  const used: Point[] = [];
  const words = [...inner, ...arrows].flatMap(wordsOf);
  const ways = inner.flatMap(({ points }) => segmentsOf(points));
  return arrows.map((arrow) => {
    const around = { boxes, words, ways, used };
    const end = led(arrow.points, boxOf(arrow.to, boxes), around);
    const whole = led([...end].reverse(), boxOf(arrow.from, boxes), around);
    return { ...arrow, points: [...whole].reverse() };
  });
}

type Segment = readonly [Point, Point];

interface Surroundings {
  readonly boxes: readonly Box[];
  readonly words: readonly Area[];
  /** Ways of arrows that are drawn already, and of those whose ends are led on. */
  readonly ways: Segment[];
  /** Where other arrows cross a border or end. */
  readonly used: Point[];
}

/** The points up to the last one outside of the state around, then over its border to the box. */
function led(
  points: readonly Point[],
  target: Box | undefined,
  { boxes, words, ways, used }: Surroundings,
): readonly Point[] {
  const border = points.at(-1);
  const before = points.at(-2);
  if (target === undefined || border === undefined || before === undefined) return points;
  if (isAt(border, target)) return points;
  const frame = boxes.find(
    (box) => box !== target && isFrame(box) && contains(box, target) && isAtEdge(border, box),
  );
  if (frame === undefined) return points;
  const walls = boxes.filter((box) => box !== target && !isFrame(box) && !contains(target, box));
  let best: { readonly cost: number; readonly at: Point; readonly end: Point } | undefined;
  for (const at of crossings(border, frame))
    for (const end of docks(target)) {
      if (walls.some((box) => meets(at, end, box, 5)) || meets(at, end, target, -3)) continue;
      const cost =
        length(at, end) +
        length(before, at) +
        (walls.some((box) => !isAt(before, box) && meets(before, at, box, 3)) ? 300 : 0) +
        words.filter((area) => meets(at, end, area, 0)).length * 60 +
        words.filter((area) => !isAt(before, area) && meets(before, at, area, bulgePx)).length * 300 +
        ways.filter(([from, to]) => cross(at, end, from, to)).length * 90 +
        used.filter((one) => length(one, at) < 12 || length(one, end) < 12).length * 40;
      if (best === undefined || cost < best.cost) best = { cost, at, end };
    }
  if (best === undefined) return points;
  used.push(best.at, best.end);
  ways.push([best.at, best.end]);
  const isBend = points.length > 3 && length(before, best.at) < bendPx; // it would turn twice within a few pixels
  return [...points.slice(0, isBend ? -2 : -1), best.at, best.end];
}

const boxOf = (path: string, boxes: readonly Box[]): Box | undefined =>
  boxes.find((box) => box.path === path && box.shape !== 'any');
const isFrame = ({ shape }: Box): boolean =>
  shape === 'root' || shape === 'compound' || shape === 'parallel' || shape === 'region';

/** Where it may cross the side of the frame at which it was docked. */
function crossings(at: Point, { x, y, width, height }: Area): readonly Point[] {
  const isAbove = Math.abs(at.y - y) < 1 || Math.abs(at.y - y - height) < 1;
  const [from, size] = isAbove ? [x, width] : [y, height];
  const count = Math.max(1, Math.floor((size - 2 * corner) / stepPx));
  const places = Array.from(
    { length: count + 1 },
    (_, n) => from + corner + (n * (size - 2 * corner)) / count,
  );
  return [at, ...places.map((place) => (isAbove ? { x: place, y: at.y } : { x: at.x, y: place }))];
}

/** Where it may end at a box. */
function docks({ x, y, width, height }: Area): readonly Point[] {
  const across = [0.5, 0.25, 0.75].map((part) => x + width * part);
  return [
    ...across.flatMap((place) => [
      { x: place, y },
      { x: place, y: y + height },
    ]),
    { x, y: y + height / 2 },
    { x: x + width, y: y + height / 2 },
  ];
}

const corner = 14;
const bendPx = 48;
/** An arrow is drawn as a curve, which leaves the straight way from one point to the next by as much. */
const bulgePx = 10;
const stepPx = 16;

const isAt = ({ x, y }: Point, box: Area): boolean =>
  x > box.x - 1.5 && x < box.x + box.width + 1.5 && y > box.y - 1.5 && y < box.y + box.height + 1.5;
/** Of frames within frames the one that the arrow was led to: the outer ones are around the place too. */
const isAtEdge = (at: Point, box: Area): boolean =>
  isAt(at, box) &&
  (Math.abs(at.x - box.x) < 1.5 ||
    Math.abs(at.x - box.x - box.width) < 1.5 ||
    Math.abs(at.y - box.y) < 1.5 ||
    Math.abs(at.y - box.y - box.height) < 1.5);
const contains = (outer: Area, inner: Area): boolean =>
  inner.x >= outer.x - 0.5 &&
  inner.y >= outer.y - 0.5 &&
  inner.x + inner.width <= outer.x + outer.width + 0.5 &&
  inner.y + inner.height <= outer.y + outer.height + 0.5;
const length = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

function meets(a: Point, b: Point, { x, y, width, height }: Area, apart: number): boolean {
  const steps = Math.ceil(length(a, b) / 8);
  for (let step = 0; step <= steps; step += 1) {
    const at = { x: a.x + ((b.x - a.x) * step) / steps, y: a.y + ((b.y - a.y) * step) / steps };
    if (at.x > x - apart && at.x < x + width + apart && at.y > y - apart && at.y < y + height + apart)
      return true;
  }
  return false;
}

const wordsOf = ({ label }: Arrow): readonly Area[] => (label === null ? [] : [areaOf(label)]);

/** Do the ways from a to b and from c to d cross? */
function cross(a: Point, b: Point, c: Point, d: Point): boolean {
  const side = (p: Point, q: Point, r: Point): number =>
    (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

const segmentsOf = (points: readonly Point[]): readonly Segment[] =>
  points.slice(1).map((point, n) => [points[n] as Point, point]);
