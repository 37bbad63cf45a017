import type { CarriedOut, CarryOutInput } from '../../machines/held-decision/machine.js';
import { callerName } from '../../machines/caller.js';
import { noticeKey } from '../../machines/notifier/context.js';
import { isRefusal } from '../../machines/refusals.js';
import { decisionRequest, refusalIn } from '../client/decision.js';
import { answeredBefore, type App } from '../commands/app.js';
import { describe } from '../commands/notifications/describe.js';
import { outcomeOf } from '../commands/notifications/outcome.js';
import { waitingAt } from '../commands/notifications/waiting-at.js';
import type { Post } from './in-process.js';

/**
 * Carries a held decision out: judged as a request over HTTP, by the route that takes such a decision, as the person
 * who made it. Its id is the idempotency key, so that a second try after a crash finds what the first did. Throws where
 * the gateway cannot answer now.
 */
export async function carryOutDecision(app: App, post: Post, held: CarryOutInput): Promise<CarriedOut> {
  const { id, by, kind, actorId, waitingId, what, within, choice, words, digest } = held;
  // What a browser decided just before it was revoked must not count
  if (by.type === 'device' && app.records !== undefined && !(await isPaired(app, by.id)))
    return { refusal: 'The browser that decided it is not paired any more.' };
  const thing = noticeKey({ kind, id: actorId, waitingId });
  const item = await waitingAt(app, thing);
  const key = `held-decision/${id}`;
  // Not every route asks whether the thing still waits: a session that is stopped for its silence may have gone on
  if (item === undefined && !(await isDone(app, by, key)))
    return { refusal: await outcomeOf(app, { key: thing, at: held.decidedAt }) };
  if (item !== undefined && (await describe(app, item)).digest !== digest)
    return { refusal: 'It has changed since it was decided. Read it again.' };
  const request = decisionRequest(
    { what, id: actorId, waitingId, ...(within !== null && { within }) },
    choice,
    { note: words.note ?? undefined, usd: words.usd ?? undefined, always: words.rule ?? words.always },
  );
  if (request === undefined) return { refusal: 'This cannot be decided so.' };
  const reply = await post(by, request.path, request.body, { key });
  if (!isRefusal(reply)) return { refusal: refusalIn(reply.body) ?? null };
  if (reply.status >= 500 || reply.status === 429) throw new Error(reply.message);
  return { refusal: reply.message };
}

/** By a try before this one, which a crash has cut. */
const isDone = async (app: App, caller: CarryOutInput['by'], key: string): Promise<boolean> =>
  (await answeredBefore({ app, caller, idempotency: { key, scope: callerName(caller), hash: '' } })) !==
  undefined;

async function isPaired({ records }: App, id: string): Promise<boolean> {
  const devices = (await records?.devices.list()) ?? [];
  return !isRefusal(devices) && devices.some((device) => device.id === id);
}
