import type { Area, Box } from '../../chart/drawing.js';
import { isWithinArea, titleOf } from './chart-areas.js';
import type { Zoom } from './zoom.js';

/**
 * Where an actor stands beside what is seen of its chart, a button each that leads there, and one to the step that it
 * took last where that is not seen whole. A chart larger than its box looked as if nothing else were active.
 */
export function OutOfView({
  states,
  step,
  zoom,
}: {
  readonly states: readonly Box[];
  readonly step: { readonly area: Area; readonly name: string; readonly show: () => void } | undefined;
  readonly zoom: Zoom;
}) {
  const seen = zoom.seen.value;
  if (seen === undefined) return null;
  const away = states.filter((box) => !isWithinArea(titleOf(box), seen));
  const isStepAway = step !== undefined && !isWithinArea(step.area, seen);
  if (away.length === 0 && !isStepAway) return null;
  return (
    <div class="out-of-view" role="group" aria-label="Out of view">
      {away.map((box) => (
        <button key={box.path} type="button" onClick={() => zoom.show(box)}>
          {arrowTo(box, seen)} {box.path}
        </button>
      ))}
      {isStepAway && (
        <button type="button" class="step" onClick={step.show}>
          {arrowTo(step.area, seen)} last step: {step.name}
        </button>
      )}
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
