import { whole } from '../../../page/clock.js';
import { Transport } from './transport.js';

/** The whole of the log as a rail, a position at a step. */
export function Rail({
  from,
  to,
  at,
  travel,
  says,
}: {
  readonly from: number;
  readonly to: number;
  readonly at: number | undefined;
  readonly travel: (seq: number | undefined) => void;
  readonly says: string;
}) {
  const here = at ?? to;
  const reach = (seq: number): void => travel(seq >= to ? undefined : Math.max(from, seq));
  return (
    <Transport
      at={at}
      canStepBack={here > from}
      step={(by) => reach(here + by)}
      travel={travel}
      position={`seq ${whole(here)}${says === '' ? '' : `, ${says}`}`}
      rail={{
        label: 'Log position',
        min: from,
        max: to,
        value: here,
        says: `${here} of ${to}, ${says}`,
        drag: reach,
      }}
    />
  );
}
