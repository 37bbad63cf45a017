import { report } from '../../page/action.js';
import { actorPath, ask, said } from '../../page/ask.js';
import { decisionRequest, refusalIn, wordsOf, type Choice } from '../../client/decision.js';
import type { Answer } from '../../client/requests.js';
import type { ActorDetail } from '../answers.js';
import { attention, keyOfWaiting, type Waiting } from './attention.js';

/** What can be decided, wherever it is shown. */
export type Decidable = Pick<Waiting, 'kind' | 'what' | 'id' | 'waitingId' | 'within' | 'title'>;
export type HeldDecision = Answer<'/api/held-decisions/{id}', 'get'>['decision'];

/**
 * Decide it; where the gateway holds decisions, with five seconds in which that can be withdrawn: what is held is
 * answered. What it came to is reported under its key, also when the row that was pressed is gone by then. Throws
 * where the gateway refuses.
 */
export async function decide(
  thing: Decidable,
  choice: Choice,
  note?: string,
): Promise<HeldDecision | undefined> {
  const { kind, id, waitingId, what } = thing;
  const isDone = atOnce.has(what); // nothing is decided by it
  if (!isDone && attention.value?.holds === true) {
    const post = { kind, id, waitingId, decision: choice, holdSeconds: 5, ...(note && { note }) };
    const { decision } = await ask<Held>('/api/held-decisions', { post });
    void follow(thing, choice, decision);
    return decision;
  }
  const { path = '', body } = decisionRequest(thing, choice) ?? {};
  const refused = refusalIn(await ask<unknown>(path, { post: { ...body, ...(note && { note }) } }));
  if (refused !== undefined) throw new Error(refused);
  const key = keyOfWaiting(thing);
  if (what !== 'connector') report(key, `${wordsOf(thing, choice)[1]}.`);
  else await reportTry(key, id);
  return undefined;
}

/** Throws where it is too late. */
export const withdraw = (decisionId: string): Promise<unknown> =>
  ask(`/api/held-decisions/${encodeURIComponent(decisionId)}`, { method: 'delete' });

/** Until it counts, is withdrawn or is refused. */
async function follow(thing: Decidable, choice: Choice, decision: HeldDecision): Promise<void> {
  const key = keyOfWaiting(thing);
  try {
    for (let checks = 0; checks < checksMax; checks += 1) {
      await pause();
      const path = `/api/held-decisions/${encodeURIComponent(decision.id)}`;
      const { status, reason } = (await ask<Held>(path)).decision;
      if (status === 'decided') return report(key, `${wordsOf(thing, choice)[1]}.`);
      if (status === 'withdrawn') return report(key, 'Undone: nothing was decided.');
      if (status === 'refused') return report(key, `Not decided: ${reason ?? 'it was refused.'}`, true);
    }
  } catch (error) {
    report(key, said(error), true);
  }
}

/** A try takes a moment: it ends in a link that holds, or in the next failure. */
async function reportTry(key: string, name: string): Promise<void> {
  for (let checks = 0; checks < checksMax; checks += 1) {
    const { view } = await ask<ActorDetail>(actorPath({ kind: 'connector', id: name }));
    const { status, detail } = view as { readonly status?: string; readonly detail?: string | null };
    if (status === 'running') return report(key, 'Tried: it works again.');
    if (status === 'error')
      return report(key, `Tried: it still fails. ${detail ?? ''}`.trim().replace(/\.?$/, '.'), true);
    await pause();
  }
  report(key, 'It is still being tried.');
}

interface Held {
  readonly decision: HeldDecision;
}

const atOnce: ReadonlySet<string> = new Set(['connector', 'notification', 'resume']);
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 500));
const checksMax = 40;
