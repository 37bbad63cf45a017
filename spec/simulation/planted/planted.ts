/**
 * A defect put back: small changes of the compiled code, made while it is loaded. Each `from` must occur exactly once,
 * so that a change of the code that makes a planted fault void is noticed.
 */
export interface Planted {
  readonly name: string;
  /** The finding it puts back, or what it takes away. */
  readonly what: string;
  readonly edits: readonly Edit[];
}

export interface Edit {
  /** Below dist/, e.g. `lib/store/row.js`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}
