import { activeStates, stateNames } from '../../../machines/state-names.js';
import type { Chart, ChartState } from '../chart/definition.js';
import type { InspectEntry } from '../../client/inspector-frames.js';
import { hasMoved, isWithin, moveOf } from './moves.js';

/**
 * Which transitions of the definition a logged step can have been: same event, from a state that was active,
 * into states that are.
 */
export function edgesTaken({ root, edges }: Chart, { event, from, to }: InspectEntry): readonly string[] {
  if (from === null) return [];
  const before = activeStates(from);
  const after = activeStates(to);
  const possible = edges.filter(
    (edge) =>
      edge.type === event.type &&
      (edge.from === '' || before.includes(edge.from)) &&
      edge.to.every((target) => after.includes(target)),
  );
  const moved = possible.filter((edge) => edge.to.some((target) => !before.includes(target)));
  if (moved.length > 0) return moved.map(({ id }) => id);
  if (!hasMoved({ from, to })) return possible.map(({ id }) => id);
  // It was left again at once: the event leads on over transitions that wait for nothing
  const begun = edges.filter(
    (edge) => edge.type === event.type && (edge.from === '' || before.includes(edge.from)),
  );
  const always = edges.filter(({ type }) => type === '');
  const onward = (active: ReadonlySet<string>, left: number): readonly string[] | undefined => {
    for (const edge of always) {
      if (edge.to.length === 0 || !(edge.from === '' || active.has(edge.from))) continue;
      if (edge.to.every((target) => after.includes(target)) && edge.to.some((one) => !before.includes(one)))
        return [edge.id];
      const rest = left > 0 ? onward(statesAt(root, edge.to), left - 1) : undefined;
      if (rest !== undefined) return [edge.id, ...rest];
    }
    return undefined;
  };
  for (const { id, to: targets } of begun) {
    const rest = onward(targets.length === 0 ? new Set(before) : statesAt(root, targets), alwaysMax);
    if (rest !== undefined) return [id, ...rest];
  }
  return (begun.length === 0 && onward(new Set(before), alwaysMax)) || [];
}

/** More of them in a row than a person would follow. */
const alwaysMax = 4;

/** What is active once some states are entered: they, those around them, and those in which they begin. */
function statesAt(root: ChartState, targets: readonly string[]): ReadonlySet<string> {
  const active = new Set<string>();
  const enter = (state: ChartState, isBegun: boolean): void => {
    const isTarget = isBegun || targets.includes(state.path);
    const isAround = targets.some((target) => state.path === '' || target.startsWith(`${state.path}.`));
    if (!isTarget && !isAround) return;
    active.add(state.path);
    for (const child of state.states)
      enter(child, isTarget && (state.type === 'parallel' || state.initial === child.path));
  };
  enter(root, false);
  return active;
}

/** What of a history is shown: steps into or out of a state, steps by transitions of the chart, or an event. */
export type Filter =
  | { readonly by: 'state'; readonly path: string }
  | { readonly by: 'edges'; readonly ids: readonly string[]; readonly name: string }
  | { readonly by: 'event'; readonly type: string };

export function takes(filter: Filter, entry: InspectEntry, machine: Chart | undefined): boolean {
  if (filter.by === 'event') return entry.event.type === filter.type;
  if (filter.by === 'edges')
    return machine !== undefined && edgesTaken(machine, entry).some((id) => filter.ids.includes(id));
  const { left, entered } = moveOf(entry);
  const within = (name: string): boolean => isWithin(name, filter.path);
  return entry.from === null ? stateNames(entry.to).some(within) : [...left, ...entered].some(within);
}

export const nameOf = (filter: Filter): string =>
  filter.by === 'state' ? filter.path : filter.by === 'event' ? filter.type : filter.name;
