/** One answer of `doctor`. */
export interface Finding {
  /** `good`: fine. `poor`: works, but someone should know. `bad`: must be repaired. */
  readonly grade: 'good' | 'poor' | 'bad';
  readonly about: string;
  readonly what: string;
  /** What to do about it. */
  readonly remedy?: string;
}
