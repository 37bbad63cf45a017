/**
 * Something about a home or its files stands in the way. One sentence each for what, where and what to do,
 * because the reader is a person at a terminal: the command line prints exactly this and nothing else.
 */
export class HomeError extends Error {
  override readonly name = 'HomeError';
  constructor(
    readonly code: HomeErrorCode,
    /** What is wrong and where: `config.yaml line 3, gateway.port: must be a whole number.` */
    what: string,
    /** What to do about it. */
    readonly remedy: string,
    options?: { cause?: unknown },
  ) {
    super(`${what} ${remedy}`, options);
  }
}

export type HomeErrorCode =
  /** A name or path that was asked for cannot be used. */
  | 'BAD_HOME'
  /** config.yaml cannot be used as it is. */
  | 'BAD_CONFIG'
  /** gateway.json is there and cannot be trusted. */
  | 'BAD_ANNOUNCEMENT'
  /** The file was changed by someone else since it was read. */
  | 'CHANGED_MEANWHILE';
