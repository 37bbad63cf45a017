import type { InboundMessage } from '../../actors/connectors/connector.js';
import { callerName, type Caller } from '../../machines/caller.js';
import type { CarriedOut, CarryOutInput } from '../../machines/held-decision/machine.js';
import { noticeKey, thingOfKey, type Notice } from '../../machines/notifier/context.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { decisionRequest, refusalIn, type Choice, type DecisionWords } from '../client/decision.js';
import type { App } from '../commands/app.js';
import { answeredBefore } from '../commands/request.js';
import { idsOf } from '../commands/iterate.js';
import { describe, waitingAt } from '../commands/notifications/describe.js';
import { outcomeOf } from '../commands/notifications/outcome.js';
import type { Post } from './in-process.js';

/**
 * Decisions that no open connection brings: one that was held until it could not be withdrawn any more, and a button
 * under a notice. Both count for the thing as it was shown, and are judged as a request over HTTP: by the route that
 * takes such a decision, as the person who made it.
 */

/**
 * Carries a held decision out. Its id is the idempotency key, so that a second try after a crash finds what the first
 * did. Throws where the gateway cannot answer now.
 */
export async function carryOutDecision(app: App, post: Post, held: CarryOutInput): Promise<CarriedOut> {
  const { id, by, kind, actorId, waitingId, choice, words, digest } = held;
  // What a browser decided just before it was revoked must not count
  if (by.type === 'device' && app.records !== undefined && !(await isPaired(app, by.id)))
    return { refusal: 'The browser that decided it is not paired any more.' };
  const refusal = await decide(app, post, {
    by,
    thing: { key: noticeKey({ kind, id: actorId, waitingId }), at: held.decidedAt, digest },
    choice,
    words: { note: words.note ?? undefined, usd: words.usd ?? undefined, always: words.rule ?? words.always },
    once: { ...held, key: `held-decision/${id}` },
  });
  if (refusal !== undefined && (refusal.status >= 500 || refusal.status === 429))
    throw new Error(refusal.message);
  return { refusal: refusal?.message ?? null };
}

/**
 * A button under a notice was pressed. It counts from the people whom `notify.to` names for that channel. Answers what
 * that person is told where it did not do what the button says.
 */
export async function answerNotice(
  app: App,
  post: Post,
  connector: string,
  { from, channel, choice = '' }: InboundMessage,
): Promise<string | undefined> {
  const { log } = app.supervisor.environment;
  const [n, digest, decision] = choice.split('.');
  const notices = await noticed(app, connector, Number(n), digest ?? '');
  if (notices.length === 0) return 'It waits no more.';
  const notice = notices.find((one) =>
    (app.settings.notify?.to ?? []).some(
      (to) => to.connector === connector && to.channel === one.channel && to.decidedBy.includes(from),
    ),
  );
  if (notice === undefined) {
    log.info(
      { connector, channel: channel.slice(0, 128), from: from.slice(0, 128) },
      'a decision of a person not in decidedBy was ignored',
    );
    return 'You may not decide this here.';
  }
  const by = personOf(connector, from);
  const refusal = await decide(app, post, { by, thing: notice, choice: decision as Choice });
  if (refusal !== undefined)
    log.info({ what: notice.key, code: refusal.code }, 'a decision by a button was refused');
  return refusal?.message;
}

interface Decision {
  readonly by: Caller;
  /** As it was shown. */
  readonly thing: Pick<Notice, 'key' | 'at' | 'digest'>;
  readonly choice: Choice;
  readonly words?: DecisionWords;
  /**
   * Of a decision that is tried until its end is known: its idempotency key, and what it was of. Absent: a client may
   * have sent what stood on no button.
   */
  readonly once?: { readonly key: string } & Pick<CarryOutInput, 'what' | 'within'>;
}

/** Undefined: it is decided so. */
async function decide(
  app: App,
  post: Post,
  { by, thing, choice, words, once }: Decision,
): Promise<Refusal | undefined> {
  const item = await waitingAt(app, thing.key);
  // Not every route asks whether the thing still waits: a session that is stopped for its silence may have gone on
  const waiting = item?.waiting ?? (once && (await isDone(app, by, once.key)) ? once : undefined);
  if (waiting === undefined) return refuse('CONFLICT', {}, await outcomeOf(app, thing));
  const shown = item && (await describe(app, item));
  if (shown !== undefined && shown.digest !== thing.digest)
    return refuse('CONFLICT', {}, 'It has changed since it was read. Read it again.');
  const isOffered = once !== undefined || shown?.choices.some((offered) => offered.choice === choice);
  const { what, within } = waiting;
  const request = isOffered
    ? decisionRequest({ ...thingOfKey(thing.key), what, ...(within != null && { within }) }, choice, words)
    : undefined;
  if (request === undefined)
    return refuse('BAD_REQUEST', {}, 'This cannot be decided here. Decide it in the console.');
  const reply = await post(by, request.path, request.body, once);
  if (isRefusal(reply)) return reply;
  const refused = refusalIn(reply.body);
  return refused === undefined ? undefined : refuse('CONFLICT', {}, refused);
}

/** By a try before this one, which a crash has cut. */
const isDone = async (app: App, caller: Caller, key: string): Promise<boolean> =>
  (await answeredBefore({ app, caller, idempotency: { key, scope: callerName(caller), hash: '' } })) !==
  undefined;

async function isPaired({ records }: App, id: string): Promise<boolean> {
  const devices = (await records?.devices.list()) ?? [];
  return !isRefusal(devices) && devices.some((device) => device.id === id);
}

/** In the audit log `device:team:U012AB3CD`: a person with the authority of a paired browser. */
const personOf = (connector: string, from: string): Caller => ({
  type: 'device',
  id: `${connector}:${from}`,
});

/** Channels that were sent the same thing at the same time number it alike. */
async function noticed(
  app: App,
  connector: string,
  n: number,
  digest: string,
): Promise<readonly (Notice & { readonly channel: string })[]> {
  const found: (Notice & { readonly channel: string })[] = [];
  for (const id of await idsOf(app.supervisor, 'notifier', { index: 'all' })) {
    const view = (await app.supervisor.get('notifier', id))?.view;
    if (view?.destination.type !== 'connector' || view.destination.connector !== connector) continue;
    const notice = view.notices.find((one) => one.n === n && one.digest === digest);
    if (notice !== undefined) found.push({ ...notice, channel: view.destination.channel });
  }
  return found;
}
