import { activeStates, stateNames } from '../../../machines/state-names.js';
import type { Chart } from '../chart/definition.js';
import type { InspectEntry } from '../../client/inspector-frames.js';
import { hasMoved, isWithin, moveOf } from './moves.js';

/**
 * Which transitions of the definition a logged step can have been: same event, from a state that was active,
 * into states that are.
 */
export function edgesTaken({ edges }: Chart, { event, from, to }: InspectEntry): readonly string[] {
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
  return (moved.length > 0 ? moved : hasMoved({ from, to }) ? [] : possible).map(({ id }) => id);
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
