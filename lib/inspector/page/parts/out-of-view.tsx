import type { Area, Box } from '../../chart/drawing.js';
import { isWithinArea, titleOf } from './chart-areas.js';
import type { Zoom } from './zoom.js';

/**
 * Where an actor stands beside what is seen of its chart, a button each that leads there. A chart larger than its
 * box looked as if nothing else were active.
 */
export function OutOfView({ states, zoom }: { readonly states: readonly Box[]; readonly zoom: Zoom }) {
  const seen = zoom.seen.value;
  const away = seen === undefined ? [] : states.filter((box) => !isWithinArea(titleOf(box), seen));
  if (seen === undefined || away.length === 0) return null;
  return (
    <div class="out-of-view" role="group" aria-label="Active, out of view">
      {away.map((box) => (
        <button key={box.path} type="button" onClick={() => zoom.show(box)}>
          {arrowTo(box, seen)} {box.path}
        </button>
      ))}
    </div>
  );
}

/** Where to look for it: the direction in which it is further away. */
function arrowTo({ x, y, width, height }: Area, seen: Area): string {
  const right = x + width / 2 - (seen.x + seen.width / 2);
  const down = y + height / 2 - (seen.y + seen.height / 2);
  if (Math.abs(right) / seen.width > Math.abs(down) / seen.height) return right > 0 ? '→' : '←';
  return down > 0 ? '↓' : '↑';
}
