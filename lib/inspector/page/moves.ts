import { stateNames } from '../../../machines/state-names.js';
import type { Json } from '../../../machines/outputs.js';
import type { InspectEntry } from '../../client/inspector-frames.js';

type Move = Pick<InspectEntry, 'from' | 'to'>;

/** Did this entry of the log move its actor, or bear it? */
export const hasMoved = ({ from, to }: Move): boolean => JSON.stringify(from) !== JSON.stringify(to);

/** The states that it left and those that it came to, innermost, by path. */
export function moveOf({ from, to }: Move): {
  readonly left: readonly string[];
  readonly entered: readonly string[];
} {
  const before = from === null ? [] : stateNames(from);
  const after = stateNames(to);
  return {
    left: before.filter((name) => !after.includes(name)),
    entered: after.filter((name) => !before.includes(name)),
  };
}

/** `isWithin('work.executing', 'work')` */
export const isWithin = (name: string, state: string): boolean =>
  name === state || name.startsWith(`${state}.`);

export const standsIn = (value: Json, state: string): boolean =>
  stateNames(value).some((name) => isWithin(name, state));
