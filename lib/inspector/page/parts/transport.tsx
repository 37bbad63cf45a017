import { useKeys } from '../../../page/keys.js';

/**
 * Where in the past one looks: a rail to drag over, a step back and forward (`[`, `]`), and `l` for now.
 * Looking at the past reads it from the log; nothing is run again. The buttons are never truly disabled: with
 * the focus on such a one no key would be heard.
 */
export function Transport({
  at,
  rail,
  canStepBack,
  step,
  travel,
  position,
}: {
  readonly at: number | undefined;
  readonly rail: {
    readonly label: string;
    readonly min: number;
    readonly max: number;
    readonly value: number;
    readonly says: string;
    readonly drag: (to: number) => void;
  };
  readonly canStepBack: boolean;
  readonly step: (by: 1 | -1) => void;
  readonly travel: (seq: number | undefined) => void;
  /** Said while one looks at the past. */
  readonly position: string;
}) {
  const live = at === undefined;
  useKeys({ '[': () => step(-1), ']': () => step(1), l: () => travel(undefined) });
  return (
    <div class="transport" role="group" aria-label="Time">
      <button
        type="button"
        onClick={() => step(-1)}
        aria-disabled={!canStepBack}
        aria-label="A step back"
        title="A step back  ["
      >
        ‹
      </button>
      <input
        type="range"
        min={rail.min}
        max={Math.max(rail.min, rail.max)}
        value={rail.value}
        aria-label={rail.label}
        aria-valuetext={rail.says}
        onInput={(event) => rail.drag(Number(event.currentTarget.value))}
      />
      <button
        type="button"
        onClick={() => step(1)}
        aria-disabled={live}
        aria-label="A step forward"
        title="A step forward  ]"
      >
        ›
      </button>
      <span class="num soft" data-position>
        {live ? 'now' : position}
      </span>
      <button
        type="button"
        class={live ? 'quiet on' : 'primary'}
        aria-pressed={live}
        onClick={() => travel(undefined)}
        title="Back to now  l"
      >
        {live ? 'Live' : 'Back to now'}
      </button>
    </div>
  );
}
