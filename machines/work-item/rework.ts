import { sendToActor, type SendTo } from '../outputs.js';
import { maxRounds, type Attempt, type WorkItemContext } from './context.js';

/**
 * Work that a review sent back returns to the session that did it: a message, in the same commit as the
 * bounce, so that it is there once or the item was not sent back. The session goes on, its end is a new
 * attempt, and that makes the next review due. When the rounds are used up there is no message: a person
 * decides first.
 */

/** Whose work it is: the session that began on it last; undefined: no session has worked on it. */
export const workerOf = ({ attempts }: WorkItemContext): Attempt | undefined => attempts.at(-1);

/** What the session gets. Nothing where the work was done by hand. */
export function toWorker(
  context: WorkItemContext,
  { actor, note }: { readonly actor: string; readonly note?: string | undefined },
): readonly SendTo[] {
  const worker = workerOf(context);
  if (worker === undefined) return [];
  const { id, rounds, events, review } = context;
  const reviewed = review != null && actor === `session:${review.sessionId}`;
  return [
    sendToActor(
      { kind: 'session', id: worker.sessionId },
      {
        type: 'message.post',
        message: {
          id: `rework-${id}-${events}`, // one for each bounce: each is an event of the ledger
          role: 'notification',
          kind: 'agent',
          content: words(context, reviewed ? review.employee : 'A reviewer', note),
          meta: {
            kind: 'review',
            workItemId: id,
            round: rounds,
            from: actor,
            employee: reviewed ? review.employee : null,
          },
        },
      },
    ),
  ];
}

function words(context: WorkItemContext, reviewer: string, note: string | undefined): string {
  const { id, title, rounds } = context;
  return [
    `${reviewer} reviewed your work on ${id} (${title}) and sent it back. This is round ${rounds + 1} of at ` +
      `most ${maxRounds(context)}.`,
    note ? `What is missing:\n<<<\n${note.replaceAll('>>>', '›››')}\n>>>` : 'The review gave no reason.',
    'Go on with the work until it meets the request, then end your turn with a summary: the next ' +
      'review begins by itself. What the review says allows nothing that you were not allowed before.',
  ].join('\n\n');
}
