import type { BuiltInName, GatewayEvent } from '../../actors/gateway-kinds.js';
import type { Caller, Causes } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { Committed, Idempotency, PlannedStep } from '../supervisor/contract.js';
import type { App, GatewayActor } from './app.js';

/**
 * What is asked of a command, by whom, and what came of it. A command is a plain function `(request, input) → Reply |
 * Refusal`; it never throws a refusal and never speaks HTTP.
 */

/**
 * The router makes it, commands pass it on, the kernel gets caller, key
 * and rehearsal from it.
 */
export interface Request {
  /** What a command may reach. */
  readonly app: App;
  /** Who asks, as authenticated. */
  readonly caller: Caller;
  /** Who caused it, where that is not the caller: see authority/causes.ts. */
  readonly onBehalfOf?: Causes;
  /** The caller's key, with the hash of route and body. */
  readonly idempotency?: Idempotency;
  /** True: decide and write nothing. */
  readonly dryRun?: boolean;
}

/** Of a request, who asks and how: without what it may reach. */
export type RequestedBy = Omit<Request, 'app'>;

/** What came of a request: what it did or, rehearsed, would do. Status and headers are for the router. */
export interface Reply<Body = unknown> {
  /** What the route answers, as JSON. */
  readonly body: Body;
  /** The stored answer of an earlier request with this key. */
  readonly replayed?: boolean;
  /** Of a rehearsal: what would happen. */
  readonly steps?: readonly PlannedStep[];
  /** Default: the route's (200). */
  readonly status?: number;
  /** Beside those that every answer has. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** Of a request, what `spawn`, `ask` and `transact` take, without undefined members. */
export function optionsOf(request: RequestedBy): {
  by: Caller;
  onBehalfOf?: Causes;
  idempotency?: Idempotency;
  dryRun?: boolean;
} {
  return {
    by: request.caller,
    ...(request.onBehalfOf && { onBehalfOf: request.onBehalfOf }),
    ...(request.idempotency && { idempotency: request.idempotency }),
    ...(request.dryRun && { dryRun: true }),
  };
}

/** One event to one actor: `await askActor(request, 'work-item', id, { type: 'item.archive' })` */
export async function askActor<Name extends BuiltInName>(
  request: Request,
  kind: Name,
  id: string,
  event: GatewayEvent<Name>,
): Promise<Reply<GatewayActor<Name>> | Refusal> {
  const view = await request.app.supervisor.ask(kind, id, event, optionsOf(request));
  return isRefusal(view) ? view : replyWith(view, view);
}

/** What the kernel answered (a view, a commit), as a command's answer with its own value. */
export const replyWith = <Value>(
  { replayed = false, steps = [] }: { readonly replayed?: boolean; readonly steps?: readonly PlannedStep[] },
  value: Value,
): Reply<Value> => ({ body: value, replayed, steps });

/** The value, or its refusal thrown: where no one is there to be refused. */
export function expected<Value>(answer: Value): Exclude<Value, Refusal> {
  if (isRefusal(answer)) throw Object.assign(new Error(answer.message), { code: answer.code });
  return answer as Exclude<Value, Refusal>;
}

/**
 * What the caller's key was answered before; undefined: nothing yet. For commands that do or judge something
 * ahead of their commit: asked again, the answer must not depend on what has changed since. Twins that are
 * both under way meet in the commit.
 * @example const before = await answeredBefore<{ id: string }>(request)
 */
export async function answeredBefore<Result extends Json>(
  request: Request,
): Promise<Committed<Result> | Refusal | undefined> {
  if (request.idempotency === undefined) return undefined;
  const unknown = refuse('NOT_FOUND');
  const known = await request.app.supervisor.transact<Result>({
    name: 'asked-before',
    startsWork: false,
    actors: [],
    ...optionsOf(request),
    run: () => unknown,
  });
  return isRefusal(known) && known === unknown ? undefined : known;
}

/**
 * One after the other: operations under the same key of the same owner wait for each other, in this process. For
 * the few commands whose decision rests on rows that no actor's turn guards.
 * @example await inTurn(supervisor, `relay/${sender}`, () => supervisor.transact(…))
 */
export async function inTurn<Result>(
  owner: object,
  key: string,
  operation: () => Promise<Result>,
): Promise<Result> {
  const waiting = waitingOf.get(owner) ?? new Map<string, Promise<void>>();
  waitingOf.set(owner, waiting);
  const before = waiting.get(key) ?? Promise.resolve();
  const mine = before.then(operation);
  const settled = mine.then(
    () => undefined,
    () => undefined,
  );
  waiting.set(key, settled);
  try {
    return await mine;
  } finally {
    if (waiting.get(key) === settled) waiting.delete(key);
  }
}

const waitingOf = new WeakMap<object, Map<string, Promise<void>>>();
