/**
 * An expected "no" of the gateway, as a value: `if (isRefusal(answer)) …`. Match on `code`; `message` is a
 * sentence for a person.
 */
export interface Refusal<Code extends string = string> {
  /** Always true; see `isRefusal`. */
  readonly refused: true;
  /** For programs: one of the codes that the operation documents. */
  readonly code: Code;
  /** The HTTP status: 400 and above. */
  readonly status: number;
  /** A sentence for a person: what was refused, why, what to do. */
  readonly message: string;
  /** Further members of the answer: `resetAt`, `currentVersion`, `errors` … */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * True for a refusal, whichever entry of Troupe it comes from.
 * @example if (isRefusal(answer)) console.log(answer.code, answer.message);
 */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, mark);
}

/** What the gateway answered with a status of 400 or above; undefined where the body is not one of the gateway's. */
export function refusalOf(status: number, body: unknown): Refusal | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { error, code, ...details } = body as Readonly<Record<string, unknown>>;
  if (typeof error !== 'string' || typeof code !== 'string') return undefined;
  const refusal = { [mark]: true, refused: true as const, code, status, message: error, details };
  return refusal;
}

/** No JSON can carry it. The same one as in machines/refusals.ts. */
const mark = Symbol.for('troupe.refusal');

/**
 * What is no answer of the gateway: it cannot be reached, does not answer in time, something else answers in
 * its place, or the connection is not allowed (any more). Requests, events and runs reject with it.
 * @example client.get('/api/status').catch((error) => error instanceof GatewayError && error.code === 'UNREACHABLE');
 */
export class GatewayError extends Error {
  /** Tells it from other errors where `instanceof` cannot. */
  override readonly name = 'GatewayError';
  /** With NOT_A_GATEWAY: the HTTP status of what answered in the gateway's place; 302 for any redirect. */
  readonly status?: number;
  constructor(
    /** No answer, none in time, an answer that no gateway gives, or a credential that is not taken. */
    readonly code: 'UNREACHABLE' | 'TIMEOUT' | 'NOT_A_GATEWAY' | 'UNAUTHENTICATED',
    message: string,
    options: {
      /** What went wrong beneath it. */
      readonly cause?: unknown;
      /** See `GatewayError.status`. */
      readonly status?: number;
    } = {},
  ) {
    const { status, ...rest } = options;
    super(message, rest);
    if (status !== undefined) this.status = status;
  }
}
