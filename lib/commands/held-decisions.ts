import type { HeldChoice, HeldWords } from '../../machines/held-decision/machine.js';
import type { ActorKey } from '../../machines/outputs.js';
import { noticeKey } from '../../machines/notifier/context.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { choicesOf } from '../client/decision.js';
import type { App, GatewayActor } from './app.js';
import {
  answeredBefore,
  askActor,
  inTurn,
  optionsOf,
  replyWith,
  type Reply,
  type Request,
} from './request.js';
import { idsOf, recordsOf } from './iterate.js';
import { describe, waitingAt, type WaitingItem } from './notifications/describe.js';

/** Decisions that are kept back for a few seconds, in which they can be withdrawn. */
export type HeldDecision = GatewayActor<'held-decision'>['view'];

export interface HoldInput {
  readonly kind: string;
  readonly id: string;
  readonly waitingId: string;
  readonly decision: HeldChoice;
  readonly words: HeldWords;
  readonly holdSeconds: number;
}

/**
 * Keep a decision and carry it out after `holdSeconds`. Refused where the thing waits no more, cannot be decided so, or
 * is held already.
 */
export function holdDecision(request: Request, input: HoldInput): Promise<Reply<HeldDecision> | Refusal> {
  const { app } = request;
  const { kind, id, waitingId, decision, words, holdSeconds } = input;
  if (!holdsDecisions(app))
    return Promise.resolve(refuse('NOT_FOUND', {}, 'This gateway holds no decisions: decide at once.'));
  const key = noticeKey({ kind, id, waitingId });
  return inTurn(app.supervisor, `hold/${key}`, async () => {
    const item = await waitingAt(app, key);
    // What was answered before is answered again, whatever has changed since
    const refusal = (await answeredBefore(request)) === undefined && (await judge(app, input, item));
    if (refusal) return refusal;
    const { what = '', within = null } = item?.waiting ?? {};
    const view = await app.supervisor.spawn('held-decision', {
      id: app.supervisor.environment.ids.next(),
      input: {
        kind,
        actorId: id,
        waitingId,
        what,
        within,
        choice: decision,
        words,
        digest: item === undefined ? '' : (await describe(app, item)).digest,
        holdMs: holdSeconds * 1_000,
      },
      ...optionsOf(request),
    });
    return isRefusal(view) ? view : replyWith(view, view.view);
  });
}

async function judge(
  app: App,
  { kind, id, waitingId, decision, words }: HoldInput,
  item: WaitingItem | undefined,
): Promise<Refusal | undefined> {
  if (item === undefined)
    return refuse('CONFLICT', { kind, id }, 'It waits no more, or has changed since you read it.');
  const held = (await openDecisions(app)).get(noticeKey({ kind, id, waitingId }));
  if (held !== undefined)
    return refuse(
      'CONFLICT',
      { decisionId: held.id },
      `It is decided already and carried out at ${held.until}. Withdraw that first.`,
    );
  const { what } = item.waiting;
  if (!choicesOf({ what }).includes(decision))
    return refuse('BAD_REQUEST', { path: 'decision' }, `This cannot be decided by "${decision}".`);
  return what === 'budget' && words.usd === null
    ? refuse('BAD_REQUEST', { path: 'usd' }, 'usd: name the dollars that this month gets.')
    : undefined;
}

/** As long as it is held nothing was decided; afterwards it is too late. */
export async function withdrawDecision(request: Request, id: string): Promise<Reply<HeldDecision> | Refusal> {
  if (!holdsDecisions(request.app)) return refuse('NOT_FOUND', {}, 'Not found');
  const done = await askActor(request, 'held-decision', id, { type: 'decision.withdraw' });
  return isRefusal(done) ? done : { ...done, body: done.body.view };
}

/** Those that are held or being carried out, by the key of what they decide. */
export async function openDecisions(app: App): Promise<ReadonlyMap<string, HeldDecision>> {
  const open = await recordsOf(app.supervisor, 'held-decision', await decisionIds(app, { index: 'open' }));
  return new Map(
    open.map((one) => [noticeKey({ kind: one.kind, id: one.actorId, waitingId: one.waitingId }), one]),
  );
}

/** All that were made about an actor and are remembered. */
export const decisionsAbout = (app: App, { kind, id }: ActorKey): Promise<readonly string[]> =>
  decisionIds(app, { index: 'about', prefix: `${kind}/${id}/` });

/** A host may run its gateway without this kind: then every decision counts at once. */
export const holdsDecisions = ({ supervisor }: App): boolean =>
  supervisor.inspection.kinds().some(({ kind }) => kind === 'held-decision');

const decisionIds = async (
  app: App,
  list: { readonly index: string; readonly prefix?: string },
): Promise<readonly string[]> =>
  holdsDecisions(app) ? await idsOf(app.supervisor, 'held-decision', list) : [];
