/**
 * Every expected "no" of the system, in one table: code → HTTP status hint → sentence.
 *
 * A *refusal* is a value, not an exception: the caller asked for something that may not be done now, or not
 * by them. Nothing is written and no one is to blame. A *fault* is ours and never appears here. Only the
 * gateway speaks HTTP; the status is a hint so that the table needs no second half elsewhere.
 */
export interface Refusal<Code extends string = string> {
  /** Always true; `isRefusal` goes by the object itself, not by this member. */
  readonly refused: true;
  /** For programs: `NOT_FOUND`, or a code of the kind's own. */
  readonly code: Code;
  /** The HTTP status that fits, 400 to 599. */
  readonly status: number;
  /** A sentence for a person: what was refused, why, and what to do instead. */
  readonly message: string;
  /** Members for programs; they become members of the HTTP error body. */
  readonly details: Readonly<Record<string, unknown>>;
}

const table = {
  BAD_REQUEST: [400, 'The request is malformed.'],
  UNKNOWN_EVENT: [400, 'Unknown event for this actor.'],
  NOTE_REQUIRED: [400, 'A note is required for this change: say why.'],
  ILLEGAL_TRANSITION: [400, 'This change is not possible from the current status.'],
  ASSIGNEE_REQUIRED: [400, 'This status needs an assignee.'],
  UNKNOWN_EMPLOYEE: [400, 'Unknown employee. GET /api/org lists them.'],
  UNKNOWN_ENGINE: [400, 'Unknown engine. GET /api/engines lists them.'],
  UNKNOWN_MODEL: [400, 'This engine does not offer that model. GET /api/engines lists them.'],
  UNKNOWN_EFFORT: [400, 'This model does not offer that effort level. GET /api/engines lists them.'],
  UNKNOWN_ATTACHMENT: [400, 'Unknown attachment id.'],
  URL_REFUSED: [400, 'Fetching this URL is not allowed.'],
  SELF_MESSAGE: [400, 'A session cannot send a message to itself.'],
  DRY_RUN_UNSUPPORTED: [400, 'This route does not support dry runs; nothing was done.'],
  IDEMPOTENCY_KEYS_DIFFER: [400, 'The Idempotency-Key header and the body member idempotencyKey differ.'],
  WORKFLOW_INVALID: [400, 'The workflow definition is invalid; see errors.'],
  UNAUTHENTICATED: [401, 'Missing or invalid gateway auth token.'],
  PAIRING_CODE_INVALID: [401, 'Invalid or expired pairing code.'],
  FORBIDDEN: [403, 'The caller is not allowed to do this.'],
  CHALLENGE_FAILED: [403, 'Missing, invalid, expired, or already used pairing challenge.'],
  LOCAL_ONLY: [403, 'This is allowed only from this machine, at a loopback address.'],
  CROSS_SITE_REFUSED: [403, 'A paired browser may do this only from a page of this gateway.'],
  PERSON_REQUIRED: [403, 'Only a person may make this change.'],
  SELF_REVIEW: [403, 'An attempt cannot declare its own work item done. Ask for review instead.'],
  NOT_OWNER: [403, 'This caller does not own the work item.'],
  CANCEL_BY_ARCHIVE: [403, 'A status change cannot cancel. Archive the work item instead.'],
  NOT_DESCENDANT: [403, 'An agent may stop only sessions that it spawned.'],
  OWN_APPROVAL: [403, 'An owner cannot decide their own approval.'],
  NOT_ROUTED: [403, 'The approval is routed to another approver.'],
  HOST_REFUSED: [403, 'This Host is not allowed. Add it to gateway.allowedHosts if it is yours.'],
  ORIGIN_REFUSED: [403, 'Origin not allowed. Add it to gateway.allowedOrigins if it is yours.'],
  NOT_FOUND: [404, 'Not found.'],
  METHOD_NOT_ALLOWED: [405, 'This path does not support this method.'],
  CONFLICT: [409, 'The request conflicts with the current state.'],
  EXISTS: [409, 'This id already exists.'],
  IDEMPOTENCY_CONFLICT: [409, 'This idempotency key was used with a different request.'],
  PENDING_APPROVAL: [409, 'A person must approve this first.'],
  NO_PENDING_APPROVAL: [409, 'There is no pending approval.'],
  GATE_PARKED: [
    409,
    'The work item mirrors a gate at which a workflow run is parked. Resolve the gate, or cancel the run.',
  ],
  TERMINAL: [409, 'The work item is closed.'],
  VERSION_CONFLICT: [409, 'This was changed in the meantime. Read it again.'],
  LIVE_ATTEMPT: [409, 'A session is already working on this work item.'],
  PAYLOAD_TOO_LARGE: [413, 'The payload is too large.'],
  REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
  EXPECTATION_FAILED: [417, 'Unsupported expectation; only 100-continue is supported.'],
  HEADERS_TOO_LARGE: [431, 'The headers and the URL are too long.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'This route accepts only JSON in UTF-8.'],
  RUN_FAILED: [422, 'The run cannot start: errors says why.'],
  RANGE_NOT_SATISFIABLE: [416, 'The byte range is outside the file.'],
  QUOTA_EXCEEDED: [507, 'The file quota is used up. Remove some files.'],
  PRECONDITION_REQUIRED: [428, 'Send expectedVersion (or If-Match) with the version that you have read.'],
  TOO_MANY: [429, 'Too many requests of this kind. Wait, then try again.'],
  AGENT_QUOTA: [429, 'This agent has used up its quota. Wait until resetAt, or ask a person.'],
  QUEUE_FULL: [429, 'The queue is full. Wait until some of it is done.'],
  NO_BINDING: [404, 'No matching workflow trigger binding.'],
  FETCH_FAILED: [502, 'The URL could not be fetched.'],
  ENGINE_UNAVAILABLE: [502, 'The engine is not available.'],
  CONNECTOR_UNAVAILABLE: [503, 'The connector is not running. GET /api/connectors shows why.'],
  ACTOR_HALTED: [503, 'This actor failed too often and was halted. A person must resume it.'],
  STORE_UNAVAILABLE: [
    503,
    'The store cannot write at the moment. Nothing was done; it is safe to try again.',
  ],
  OWNER_ELSEWHERE: [
    503,
    'Another node has taken this home over. Nothing was done; it is safe to try again there.',
  ],
  OUTCOME_UNKNOWN: [
    500,
    'The disk failed during the write; its outcome is unknown. Check, or retry with the same idempotency key.',
  ],
  DEVICES_DAMAGED: [
    503,
    'Paired browsers are refused: auth-devices.json is unusable. Fix it, or remove it and pair again.',
  ],
  DISK_LOW: [503, 'The disk is almost full: new work is refused, running work continues. Free some space.'],
  UPGRADED: [
    503,
    'Files of Troupe were replaced while this gateway runs. Nothing was done. Restart it: troupe stop, troupe start.',
  ],
  DRAINING: [503, 'The gateway is shutting down. Try again after its restart.'],
  WORKFLOWS_DISABLED: [503, 'Workflows need an evidence folder, and the configured one is not usable.'],
  OVERLOADED: [503, 'Too many requests are waiting. Nothing was done; try again in a moment.'],
  BUSY: [503, 'Too much work is waiting. Try again in a moment.'],
} as const satisfies Record<string, readonly [number, string]>;

// Not `keyof typeof table`: this way the compiler's messages say RefusalCode and not sixty codes
/** The codes of all refusals. */
export type RefusalCode = Extract<keyof typeof table, string>;

/** What a code of a host's own means: the HTTP status it is answered with, and its sentence for a person. */
export interface RefusalMeaning {
  /** 400 to 599. */
  readonly status: number;
  /** A sentence for a person, used where `refuse` is given none. */
  readonly message: string;
}

/**
 * A kind's part of the refusal of an event that no state takes now; the kernel adds from the statechart in which
 * states it is taken. All members may be left out.
 * @example
 *   const notInState = (): NotInState => ({ action: 'be archived', remedy: 'Stop it first.' });
 *   // "The session s1 cannot be archived while it is running; it can while it is idle or stopped. Stop it first."
 */
export interface NotInState<Code extends string = RefusalCode> {
  /** Default: `CONFLICT`. */
  readonly code?: Code;
  /** Members beside `kind`, `id`, `event`, `state` and `states`. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** What the event would have done to the actor, after "cannot". Default: `accept "<type>"`. */
  readonly action?: string;
  /** What to do first: a sentence. */
  readonly remedy?: string;
}

/**
 * `refuse('NOT_FOUND', {kind, id}, 'There is no work item TRP-9.')`: the table's sentence unless a better one
 * is given. A code that is not in the table is the host's own, with status 409 unless `Kind.refusals` says
 * another.
 * @example const policy = ({ by }: Stamp) => (isPerson(by) ? undefined : refuse('FORBIDDEN'));
 */
export function refuse<Code extends RefusalCode | (string & {})>(
  code: Code,
  details: Record<string, unknown> = {},
  message?: string,
): Refusal<Code> {
  const [status, sentence] = Object.hasOwn(table, code)
    ? table[code as RefusalCode]
    : ([409, sentenceOf(code)] as const);
  const refusal = {
    [mark]: true,
    refused: true as const,
    code,
    status,
    message: message ?? sentence,
    details,
  };
  return refusal;
}

/** A refusal by a code of the host's own, with the status and the sentence that its kind gives that code. */
export function explained(
  refusal: Refusal,
  meanings: Readonly<Record<string, RefusalMeaning>> | undefined,
): Refusal {
  const meaning =
    meanings !== undefined && Object.hasOwn(meanings, refusal.code) ? meanings[refusal.code] : undefined;
  if (meaning === undefined) return refusal;
  const { status, message } = meaning;
  return {
    ...refusal,
    status,
    message: refusal.message === sentenceOf(refusal.code) ? message : refusal.message,
  };
}

const sentenceOf = (code: string): string => `Refused: ${code}.`;

/**
 * True for what `refuse` made: `if (isRefusal(answer)) …`. Words of a client that look like one (`{"refused":
 * true, …}`) are none.
 * @example if (isRefusal(answer)) console.log(answer.code, answer.message);
 */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, mark);
}

/** No JSON can carry it. Of all copies of Troupe in a process, `troupe/client` among them. */
const mark = Symbol.for('troupe.refusal');

/**
 * The table itself, for the documentation and the specs.
 * @example const [status, sentence] = refusalTable.NOT_FOUND;
 */
export const refusalTable: Readonly<Record<RefusalCode, readonly [status: number, sentence: string]>> = table;
