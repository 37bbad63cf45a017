/**
 * A statechart as plain data: what is drawn, and what a browser is given. Read from a live machine by
 * `chartOf`, laid out by `layOut`, rendered by `svgOf`; none of the three needs the other's place to run in.
 */
export interface Chart {
  readonly id: string;
  readonly root: ChartState;
  readonly edges: readonly ChartEdge[];
}

export interface ChartState {
  /** `''` for the machine itself, else `running` or `work.executing`: what `stateNames(value)` lists. */
  readonly path: string;
  /** Last part of the path; the machine's id at the root. */
  readonly key: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  /** Path of the state that is entered first. */
  readonly initial: string | null;
  readonly invokes: readonly { readonly id: string; readonly src: string }[];
  readonly entry: readonly string[];
  readonly exit: readonly string[];
  readonly tags: readonly string[];
  readonly about: string | null;
  readonly states: readonly ChartState[];
}

export interface ChartEdge {
  /** `e0`, `e1` … in the order of the definition. */
  readonly id: string;
  readonly from: string;
  /** Empty: it stays where it is. */
  readonly to: readonly string[];
  /**
   * As it stands in the log: `message.post`, `xstate.done.actor.turn`, `xstate.after.untilReset.waiting`;
   * `''` for always.
   */
  readonly type: string;
  /** As people read it: `message.post`, `turn done`, `after untilReset`, `always`. */
  readonly event: string;
  readonly guard: string | null;
  /** The guard as people read it: `is(status = failed)`, `not ready`. */
  readonly condition: string | null;
  /** Name or milliseconds of the delay of an `after`. */
  readonly delay: string | null;
  readonly actions: readonly string[];
  readonly reenter: boolean;
}
