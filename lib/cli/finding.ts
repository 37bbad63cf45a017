/** One answer of `doctor`. */
export interface Finding {
  /** `good`: fine. `poor`: works, but somebody should know. `bad`: must be mended. */
  readonly grade: 'good' | 'poor' | 'bad';
  readonly about: string;
  readonly what: string;
  /** What to do about it. */
  readonly remedy?: string;
}
