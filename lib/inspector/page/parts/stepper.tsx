import { useRef } from 'preact/hooks';
import { timeOfDay } from '../../../page/clock.js';
import type { StepReader } from '../steps.js';
import { Transport } from './transport.js';

/** Back and forward through the whole life of an actor, from its first step to its last. */
export function Stepper({
  reader: { steps, seqOf },
  last,
  at,
  travel,
}: {
  readonly reader: StepReader;
  /** How many steps it has made. */
  readonly last: number;
  readonly at: number | undefined;
  readonly travel: (seq: number | undefined) => void;
}) {
  const { entries } = steps.value;
  const here = at === undefined ? entries[0] : entries.find(({ seq }) => seq <= at);
  const revision = at === undefined ? last : (here?.rev ?? 0);
  const wanted = useRef(revision);
  const reach = (to: number): void => {
    wanted.current = to;
    if (to >= last) return travel(undefined);
    void seqOf(Math.max(1, to)).then(
      (seq) => {
        if (seq !== undefined && wanted.current === to) travel(seq); // dragged on meanwhile
      },
      () => undefined,
    );
  };
  return (
    <Transport
      at={at}
      canStepBack={revision > 1}
      step={(by) => reach(revision + by)}
      travel={travel}
      position={`seq ${at}${here === undefined ? '' : `, ${timeOfDay(here.at)}`}`}
      rail={{
        label: 'Step',
        min: 1,
        max: last,
        value: revision,
        says:
          here === undefined
            ? 'before the first step'
            : `step ${revision} of ${last} at ${timeOfDay(here.at)}`,
        drag: reach,
      }}
    />
  );
}
