import type { Answer } from '../../client/requests.js';
import {
  choicesOf,
  decisionRequest,
  refusalIn,
  type Choice,
  type DecisionWords,
} from '../../client/decision.js';
import { ask, Refused } from '../../page/ask.js';
import { client, must } from '../../page/gateway.js';
import { hear } from './live.js';
import { holdsDecisions, keyOf, refreshWaiting, type Waiting } from './waiting.js';

/** What a person may answer to a thing that waits, as the console sends it. */

/** What a person may answer: nothing where an employee decides. */
export const choicesHere = (thing: Waiting): readonly Choice[] =>
  thing.operatorEntitled ? choicesOf(thing) : [];

/**
 * Of the polls whose program was shown: the hash of what stood there. Only that is decided; a program that was
 * changed after it was read is refused.
 */
export const contractsRead = new Map<string, string>();

/**
 * Sent with five seconds in which it can be withdrawn. The gateway keeps them: a page that is closed or a phone that
 * is locked meanwhile changes nothing. Undefined: this gateway holds none, so it was decided at once. Throws a
 * `Refused` where the gateway says no, as when another has decided first.
 */
export const hold = (
  thing: Waiting,
  choice: Choice,
  words: DecisionWords = {},
): Promise<HeldDecision | undefined> =>
  here(thing, async () => {
    if (!holdsDecisions.value) return send(thing, choice, words);
    refuseUnread(thing, choice);
    const { kind, id, waitingId } = thing;
    const { note, usd, always } = words;
    const { decision } = await must(
      client.post('/api/held-decisions', {
        body: {
          kind,
          id,
          waitingId,
          decision: choice,
          holdSeconds: 5,
          ...(note !== undefined && note !== '' && { note }),
          ...(usd !== undefined && { usd }),
          ...(always !== undefined && always !== false && { always: true }),
          ...(typeof always === 'string' && { rule: always }),
        },
      }),
    );
    heldHere.set(decision.id, stampOf(thing));
    return decision;
  });

export type HeldDecision = Answer<'/api/held-decisions/{id}', 'get'>['decision'];

/** Throws where it is too late. */
export const withdraw = (decisionId: string): Promise<unknown> =>
  thenRefresh(async () => {
    await must(client.delete('/api/held-decisions/{id}', { params: { path: { id: decisionId } }, body: {} }));
    waitsAgain(decisionId);
  });

/** It was decided in this page, or is about to be: a key that is pressed twice decides once. */
export const isDecidedHere = (thing: Waiting): boolean => decidedHere.has(stampOf(thing));
const decidedHere = new Set<string>();
/** The stamp of each thing by the decision that is held on it. */
const heldHere = new Map<string, string>();
/** It was refused when it was to count, or withdrawn, here or elsewhere: the thing can be decided once more. */
function waitsAgain(decisionId: string): void {
  decidedHere.delete(heldHere.get(decisionId) ?? '');
  heldHere.delete(decisionId);
}
hear(({ frames }) => {
  for (const { event, payload } of frames)
    if (event === 'decision:refused' || event === 'decision:withdrawn')
      waitsAgain(String(payload['decisionId']));
});
/** Asked again it is another thing. */
const stampOf = (thing: Waiting): string => `${keyOf(thing)} ${thing.since}`;

async function here<Value>(thing: Waiting, action: () => Promise<Value>): Promise<Value> {
  decidedHere.add(stampOf(thing));
  try {
    return await thenRefresh(action);
  } catch (error) {
    decidedHere.delete(stampOf(thing));
    throw error;
  }
}

async function thenRefresh<Value>(action: () => Promise<Value>): Promise<Value> {
  try {
    return await action();
  } finally {
    refreshWaiting();
  }
}

function refuseUnread(thing: Waiting, choice: Choice): void {
  const isRead = thing.what !== 'activation' || contractsRead.get(thing.id) === thing.waitingId;
  if (choice !== 'escalate' && choicesOf(thing).includes(choice) && !isRead)
    throw new Refused(0, 'NOT_READ', 'Its program was not shown yet: open it and read it first.');
}

async function send(thing: Waiting, choice: Choice, words: DecisionWords): Promise<undefined> {
  refuseUnread(thing, choice);
  const request = decisionRequest(thing, choice, words);
  if (request === undefined) throw new Refused(0, 'NOT_HERE', 'This is decided elsewhere: open it.');
  const refused = refusalIn(await ask<unknown>(request.path, { post: request.body }));
  if (refused !== undefined) throw new Refused(409, 'CONFLICT', refused);
}
