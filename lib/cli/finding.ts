/** One answer of `doctor`. */
export interface Finding {
  /** `good`: fine. `poor`: works, but someone should know. `bad`: must be repaired. */
  readonly grade: 'good' | 'poor' | 'bad';
  readonly about: string;
  readonly what: string;
  /** What to do about it. */
  readonly remedy?: string;
  readonly fix?: Fix;
}

/** What `doctor --fix` may do by itself: it takes rights from others, or removes what no one can need any more. */
export interface Fix {
  /** `chmod 700 /home/ann/.svc` */
  readonly does: string;
  apply(): Promise<unknown>;
}
