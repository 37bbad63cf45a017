import type { Placed } from './dagre.js';
import type { Point } from './drawing.js';

/**
 * Where an arrow would run across a neighbour of the box that it leaves or reaches, it docks at the upper or
 * lower side instead.
 */
export function docked(
  points: readonly Point[],
  from: Placed,
  to: Placed,
  all: readonly Placed[],
): readonly Point[] {
  const inner = points.slice(1, -1);
  const [first] = inner;
  const last = inner.at(-1);
  if (first === undefined || last === undefined) return points;
  const [start, end] = [points[0] as Point, points.at(-1) as Point];
  const others = all.filter((box) => box !== from && box !== to);
  const free = (a: Point, b: Point): boolean => !others.some((box) => crosses(a, b, box));
  return [
    free(start, first) ? start : (dock(from, first) ?? start),
    ...inner,
    free(last, end) ? end : (dock(to, last) ?? end),
  ];
}

/** Does the line from a to b meet the box? Looked at in small steps: charts are small. */
function crosses(a: Point, b: Point, { x, y, width, height }: Placed): boolean {
  for (let step = 0; step <= 24; step += 1) {
    const at = { x: a.x + ((b.x - a.x) * step) / 24, y: a.y + ((b.y - a.y) * step) / 24 };
    if (Math.abs(at.x - x) < width / 2 + 2 && Math.abs(at.y - y) < height / 2 + 2) return true;
  }
  return false;
}

function dock({ x, y, width, height }: Placed, towards: Point): Point | undefined {
  const side =
    towards.y > y + height / 2 ? y + height / 2 : towards.y < y - height / 2 ? y - height / 2 : undefined;
  if (side === undefined) return undefined;
  const reach = width / 2 - 14;
  return { x: Math.min(x + reach, Math.max(x - reach, x + (towards.x - x) / 2)), y: side };
}
