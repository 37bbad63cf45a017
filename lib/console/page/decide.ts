import {
  choicesOf,
  decisionRequest,
  refusalIn,
  type Choice,
  type DecisionWords,
} from '../../client/decision.js';
import { ask, Refused } from '../../page/ask.js';
import { refreshWaiting, type Waiting } from './waiting.js';

/** What a person may answer to a thing that waits, as the console sends it. */

/**
 * Of the polls whose program was shown: the hash of what stood there. Only that is decided; a program that was
 * changed after it was read is refused.
 */
export const contractsRead = new Map<string, string>();

/** Throws a `Refused` where the gateway says no, as when another has decided first. */
export async function decide(thing: Waiting, choice: Choice, words: DecisionWords = {}): Promise<void> {
  try {
    await send(thing, choice, words);
  } finally {
    refreshWaiting();
  }
}

async function send(thing: Waiting, choice: Choice, words: DecisionWords): Promise<void> {
  const isRead = thing.what !== 'activation' || contractsRead.get(thing.id) === thing.waitingId;
  if (choice !== 'escalate' && choicesOf(thing).includes(choice) && !isRead)
    throw new Refused(0, 'NOT_READ', 'Its program was not shown yet: open it and read it first.');
  const request = decisionRequest(thing, choice, words);
  if (request === undefined) throw new Refused(0, 'NOT_HERE', 'This is decided elsewhere: open it.');
  const refused = refusalIn(await ask<unknown>(request.path, { post: request.body }));
  if (refused !== undefined) throw new Refused(409, 'CONFLICT', refused);
}
