import type { Arrow, Box, Point } from './drawing.js';

/**
 * The same arrows with their ends apart: where two leave or reach a box at one place, their tips lie on one another and
 * no one sees which of them leads where. They are moved along the side, in the order in which they come.
 */
export function endsApart(arrows: readonly Arrow[], boxes: readonly Box[]): readonly Arrow[] {
  const sides = new Map<string, End[]>();
  arrows.forEach((arrow, at) => {
    for (const end of [endOf(arrow, at, false, boxes), endOf(arrow, at, true, boxes)])
      if (end !== undefined) {
        const others = sides.get(end.side.name);
        if (others === undefined) sides.set(end.side.name, [end]);
        else others.push(end);
      }
  });
  const moved = arrows.map(({ points }) => [...points]);
  for (const ends of sides.values())
    for (const { end, place } of placed(ends)) {
      const points = moved[end.arrow] as Point[];
      const index = end.isLast ? points.length - 1 : 0;
      const point = points[index] as Point;
      points[index] = end.side.isAcross ? { x: place, y: point.y } : { x: point.x, y: place };
    }
  return arrows.map((arrow, at) => ({ ...arrow, points: moved[at] ?? arrow.points }));
}

/** One end of an arrow, on a side of a box. */
interface End {
  readonly arrow: number;
  readonly isLast: boolean;
  readonly side: Side;
  /** Along the side: where it is, and where the arrow comes from. */
  readonly place: number;
  readonly from: number;
}

interface Side {
  readonly name: string;
  /** The upper or lower side, along which x changes. */
  readonly isAcross: boolean;
  readonly first: number;
  readonly last: number;
}

function endOf(arrow: Arrow, at: number, isLast: boolean, boxes: readonly Box[]): End | undefined {
  const [point, next] = isLast ? [arrow.points.at(-1), arrow.points.at(-2)] : arrow.points;
  if (point === undefined || next === undefined) return undefined;
  const path = isLast ? arrow.to : arrow.from;
  for (const [n, box] of boxes.entries()) {
    const side = box.path === path ? sideAt(point, box, n) : undefined;
    if (side === undefined) continue;
    const along = ({ x, y }: Point): number => (side.isAcross ? x : y);
    return { arrow: at, isLast, side, place: along(point), from: along(next) };
  }
  return undefined;
}

function sideAt({ x, y }: Point, box: Box, n: number): Side | undefined {
  const isBeside = y > box.y - near && y < box.y + box.height + near;
  const isAbove = x > box.x - near && x < box.x + box.width + near;
  for (const [name, edge] of Object.entries({ top: box.y, bottom: box.y + box.height }))
    if (isAbove && Math.abs(y - edge) < near)
      return {
        name: `${n} ${name}`,
        isAcross: true,
        first: box.x + corner,
        last: box.x + box.width - corner,
      };
  for (const [name, edge] of Object.entries({ left: box.x, right: box.x + box.width }))
    if (isBeside && Math.abs(x - edge) < near)
      return {
        name: `${n} ${name}`,
        isAcross: false,
        first: box.y + corner,
        last: box.y + box.height - corner,
      };
  return undefined;
}

/** Only what is too near to another is moved, and no further than it must be. */
function placed(ends: readonly End[]): readonly Placed[] {
  const rows: (readonly Placed[])[] = [];
  for (const end of [...ends].sort((a, b) => a.place - b.place)) {
    let row: readonly Placed[] = [{ end, place: end.place }];
    for (let before = rows.at(-1); before !== undefined && isNear(before, row); before = rows.at(-1)) {
      rows.pop();
      row = inRow([...before, ...row].map((one) => one.end));
    }
    rows.push(row);
  }
  return rows.filter(({ length }) => length > 1).flat();
}

interface Placed {
  readonly end: End;
  readonly place: number;
}

const isNear = (before: readonly Placed[], after: readonly Placed[]): boolean =>
  (after[0] as Placed).place - (before.at(-1) as Placed).place < apartPx;

/** Around the middle of where they were, in the order in which they come, so that none crosses another. */
function inRow(ends: readonly End[]): readonly Placed[] {
  const sorted = [...ends].sort((a, b) => a.from - b.from);
  const { first, last } = (sorted[0] as End).side;
  const gap = Math.min(apartPx, Math.max(0, last - first) / (sorted.length - 1));
  const width = gap * (sorted.length - 1);
  const middle = sorted.reduce((sum, { place }) => sum + place, 0) / sorted.length;
  const begin = Math.max(first, Math.min(last - width, middle - width / 2));
  return sorted.map((end, n) => ({ end, place: begin + n * gap }));
}

const near = 1.5;
const corner = 8;
/** As far as one tip is from the next. */
const apartPx = 14;
