import type { ChartState } from './definition.js';
import type { Box, Drawing, Point } from './drawing.js';

/**
 * The same drawing with the regions of each row moved down so far that the states in which an actor stands are beside
 * each other: of a high region the lowest state, and of a low one beside it what is active there, are seen at once.
 * The highest region of a row stays, and none leaves its row. `lit` are the active states, as `activeStates` says.
 */
export function aligned(drawing: Drawing, root: ChartState, lit: readonly string[]): Drawing {
  let all = drawing;
  // From the inside out: where a region stands within another moves what is active in that one
  for (const { states } of parallelsIn(root).reverse()) {
    const regions = states.flatMap(({ path }) => boxOf(all, path) ?? []);
    for (const y of new Set(regions.map((region) => region.y))) {
      const row = regions.filter((region) => region.y === y);
      const highest = row.reduce((one, other) => (other.height > one.height ? other : one));
      const goal = topIn(all, highest.path, lit);
      for (const { path, height } of row) {
        const down = Math.min(highest.height - height, goal - topIn(all, path, lit));
        if (down > 0) all = moved(all, path, down);
      }
    }
  }
  return all;
}

const parallelsIn = (state: ChartState): ChartState[] => [
  ...(state.type === 'parallel' ? [state] : []),
  ...state.states.flatMap(parallelsIn),
];

const boxOf = ({ boxes }: Drawing, path: string): Box | undefined =>
  boxes.find((box) => box.path === path && box.shape !== 'any');

/** How far down the innermost active state of a region begins. */
function topIn(drawing: Drawing, region: string, lit: readonly string[]): number {
  const active = lit.filter((path) => isWithin(path, region)).sort((a, b) => b.length - a.length);
  return boxOf(drawing, active[0] ?? region)?.y ?? 0;
}

function moved(drawing: Drawing, region: string, down: number): Drawing {
  const lower = <At extends Point>(at: At): At => ({ ...at, y: at.y + down });
  return {
    ...drawing,
    boxes: drawing.boxes.map((box) => (isWithin(box.path, region) ? lower(box) : box)),
    // No arrow leads from one region into another
    arrows: drawing.arrows.map((arrow) =>
      isWithin(arrow.to, region)
        ? { ...arrow, points: arrow.points.map(lower), label: arrow.label && lower(arrow.label) }
        : arrow,
    ),
  };
}

const isWithin = (path: string, region: string): boolean => path === region || path.startsWith(`${region}.`);
