import { publish, afterwards, type Decision } from '../outputs.js';
import type { QueueItem, SessionContext, SessionEventOf, TurnOutput } from './context.js';
import { queueFrame, queueRow, written } from './rows.js';

/**
 * A turn that the end of its gateway cut off goes on as a new turn, which is told so. With `agents.resume` that
 * turn is queued in the commit that ends the one before, so it is neither lost nor doubled, and those who wait for the
 * work hear nothing of the cut. Otherwise it waits until a person says so (`session.resume`).
 */

/** So often in a row without a person: a turn that brings its gateway down must not do so for ever. */
export const resumesMax = 3;

/** Does it go on by itself? */
export const goesOn = ({ queuePaused, resumes = 0 }: SessionContext, { cut }: TurnOutput): boolean =>
  cut === 'resume' && !queuePaused && resumes < resumesMax;

/** After the turn's end, before anything else that waits. */
export const resumeCut = (context: SessionContext, at: number): Decision<SessionContext> =>
  resumed(context, (context.resumes ?? 0) + 1, at);

/** Another turn begins right after one that was cut. */
export const announceCut = (context: SessionContext, { outcome }: TurnOutput): Decision<SessionContext> =>
  outcome === 'interrupted' ? { outputs: [publish('session:resumed', { sessionId: context.id })] } : {};

/** A person says so. */
export const resume = (
  context: SessionContext,
  { at }: SessionEventOf<'session.resume'>,
): Decision<SessionContext> => resumed(context, 0, at);

/**
 * The notice begins the turn, and with it comes once more what the turn before was to do: whether its agent had seen
 * that when it was cut is not known.
 */
function resumed(context: SessionContext, resumes: number, at: number): Decision<SessionContext> {
  const n = context.messages + 1;
  const message = {
    id: noticeId(n),
    role: 'notification' as const,
    content: goOn,
    meta: { kind: 'resume' },
  };
  return afterwards(context, written(context, message, at), (now) => {
    const notice: QueueItem = { id: message.id, n, kind: 'user', createdAt: at, join: false };
    const again = (context.unfinished ?? []).map((item) => ({ ...item, join: true }));
    const queue = [notice, ...again, ...now.queue];
    return {
      set: { queue, resumes, archivedAt: null },
      outputs: [
        ...[notice, ...again].map((item) => queueRow(item, 'pending', null, null)),
        queueFrame({ ...now, queue }),
      ],
    };
  });
}

const noticeId = (n: number): string => `resume-${n}`;

/** Each resumption writes its own; the one before it says nothing more. */
export const isResumeNotice = ({ id, n }: QueueItem): boolean => id === noticeId(n);

/** A turn of these messages only goes on: nothing that was written meanwhile has joined it. */
export const isResumed = (
  { unfinished }: SessionContext,
  [first, ...again]: readonly QueueItem[],
): { readonly isResumed?: true } =>
  first !== undefined && isResumeNotice(first) && again.length === (unfinished ?? []).length
    ? { isResumed: true }
    : {};

const goOn =
  'Your last turn was interrupted before it ended; what you had said and done by then is kept. What it was asked ' +
  'stands above once more, in case you have not seen it. Go on where it stopped. Check first what is already done, ' +
  'so that nothing is done twice.';
