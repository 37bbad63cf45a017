import { timeOfDay } from '../../../page/clock.js';
import { Transport } from './transport.js';
import type { InspectEntry } from '../../frames.js';

/**
 * Back and forward through the steps of an actor that are known. `earlier`: where there is more before the
 * first at hand.
 */
export function Stepper({
  entries,
  at,
  travel,
  earlier,
}: {
  readonly earlier?: (() => void) | undefined;
  readonly entries: readonly Pick<InspectEntry, 'seq' | 'at'>[];
  readonly at: number | undefined;
  readonly travel: (seq: number | undefined) => void;
}) {
  const oldestFirst = [...entries].reverse();
  const last = oldestFirst.length - 1;
  const found = at === undefined ? last : oldestFirst.findLastIndex(({ seq }) => seq <= at);
  const here = oldestFirst[found];
  const step = (by: number): void => {
    const to = found + by;
    if (to > last) travel(undefined);
    else if (to >= 0) travel(oldestFirst[to]?.seq);
    else earlier?.();
  };
  return (
    <Transport
      at={at}
      canStepBack={found > 0 || earlier !== undefined}
      step={step}
      travel={travel}
      position={`seq ${at}${here === undefined ? '' : `, ${timeOfDay(here.at)}`}`}
      rail={{
        label: 'Step',
        min: 0,
        max: last,
        value: Math.max(0, found),
        says: here === undefined ? 'before the first step' : `step ${here.seq} at ${timeOfDay(here.at)}`,
        drag: (to) => travel(to >= last ? undefined : oldestFirst[to]?.seq),
      }}
    />
  );
}
