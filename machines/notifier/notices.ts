import { writeRow, type OutputOf, type Decision } from '../outputs.js';
import {
  limits,
  noticeKey,
  type Job,
  type Notice,
  type NoticeInput,
  type NoticeOutput,
  type NoticeRow,
  type NotifierContext,
  type NotifierEventOf,
  type NotifierRows,
} from './context.js';

/**
 * What is sent next, and what a message changes. A thing is noticed once: its notice stays for as long as it waits.
 * One that ends before it is due leaves without a word; one that was sent leaves when its message says how it ended.
 */
type Done = Decision<NotifierContext> & { readonly outputs?: readonly OutputOf<NotifierRows>[] };

/** Things began to wait, or wait no more. What is known already changes nothing. */
export function changeNotices(context: NotifierContext, event: NotifierEventOf<'notices.changed'>): Done {
  const over = new Map(event.over.map(({ n, outcome }) => [n, outcome.slice(0, limits.outcomeCharsMax)]));
  const ended = (notice: Notice): boolean => over.has(notice.n);
  const dropped = context.notices.filter((notice) => ended(notice) && notice.state === 'held');
  const left = context.notices
    .filter((notice) => !dropped.includes(notice))
    .map((notice): Notice =>
      ended(notice) && notice.state !== 'closed'
        ? { ...notice, state: 'over', outcome: over.get(notice.n) ?? '' }
        : notice,
    );
  const known = new Set(
    left.filter(({ state }) => state !== 'over' && state !== 'closed').map(({ key }) => key),
  );
  const erased = new Set(event.over.filter((one) => one.erased === true).map(({ n }) => n));
  const fresh = event.added
    .filter((thing) => !known.has(noticeKey(thing)))
    .slice(0, Math.max(0, limits.noticesMax - left.length));
  const added = fresh.map((thing, index): Notice & { readonly row: NoticeRow } => {
    const { delayMs, ...row } = thing;
    const n = context.noticed + index + 1;
    return {
      n,
      key: noticeKey(thing),
      digest: thing.digest,
      at: event.at,
      dueAt: event.at + delayMs,
      state: 'held',
      message: null,
      messageId: null,
      outcome: null,
      row: { ...row, n, text: row.text.slice(0, limits.textCharsMax) },
    };
  });
  return {
    set: {
      noticed: context.noticed + added.length,
      notices: [...left, ...added.map(({ row: _row, ...notice }) => notice)],
      updatedAt: event.at,
    },
    outputs: [
      ...dropped.map(({ n }) => writeRow('notices', n, null)),
      ...left.filter(({ n }) => erased.has(n)).map((notice) => writeRow('notices', notice.n, blank(notice))),
      ...added.map(({ n, row }) => writeRow('notices', n, row)),
    ],
  };
}

/** A notice of which nothing is said any more but that it was there. */
function blank({ n, key, digest, at }: Notice): NoticeRow {
  const [kind = '', id = '', ...rest] = key.split('/');
  return {
    n,
    kind,
    id,
    waitingId: rest.join('/'),
    what: 'erased',
    title: 'Erased',
    text: '',
    on: 'operator',
    since: at,
    until: null,
    link: '',
    choices: [],
    digest,
  };
}

/** The next message: one that was begun, one that is no longer true, then what is due, together. */
export function nextJob(context: NotifierContext, at: number): Job | undefined {
  const { current, notices } = context;
  if (current !== null) return current;
  const stale = notices.find(({ state, message }) => state === 'over' && message !== null);
  if (stale !== undefined) {
    const together = notices.filter(({ message }) => message === stale.message);
    return {
      type: 'edit',
      message: stale.message ?? stale.n,
      notices: together.map(({ n }) => n),
      ended: together.flatMap(({ n, outcome }) => (outcome === null ? [] : [{ n, outcome }])),
      messageId: stale.messageId,
    };
  }
  const held = notices.filter(({ state }) => state === 'held');
  const first = held.find((notice) => dueOf(notice, at) <= at);
  if (first === undefined) return undefined;
  const together = held
    .filter((notice) => dueOf(notice, at) <= at + limits.togetherMs)
    .slice(0, limits.batchMax);
  const said = together.length > limits.apartMax ? together : [first];
  return { type: 'send', message: first.n, notices: said.map(({ n }) => n), ended: [], messageId: null };
}

/** When the first of those that are held back is due, as of now. */
export function nextDueAt({ notices }: NotifierContext, at: number): number | undefined {
  const held = notices.filter(({ state }) => state === 'held');
  return held.length === 0 ? undefined : Math.min(...held.map((notice) => dueOf(notice, at)));
}

/** A clock that was set back to before the thing was held would hold it back for as long again: it is due now. */
const dueOf = ({ at, dueAt }: Notice, now: number): number => (now < at ? now : dueAt);

export function takeJob(context: NotifierContext, at: number): Done {
  const job = nextJob(context, at);
  if (job === undefined) return {};
  return {
    set: {
      current: job,
      notices:
        job.type === 'edit'
          ? context.notices
          : context.notices.map((notice) =>
              job.notices.includes(notice.n) && notice.state === 'held'
                ? { ...notice, state: 'sending', message: job.message }
                : notice,
            ),
    },
  };
}

export function jobInput({ id, current, destination }: NotifierContext): NoticeInput {
  // The machine never gets here: a fault, not a refusal
  if (current === null) throw new Error(`notifier ${id} has nothing to send`);
  return { destination, job: current, key: `${id}.${current.message}.${editOf(current)}` };
}

/** A message is edited once for each number of endings. */
const editOf = ({ type, ended }: Job): string => (type === 'send' ? 'send' : `edit-${ended.length}`);

export function settleJob(context: NotifierContext, output: NoticeOutput, at: number): Done {
  const job = context.current;
  if (job === null) return {};
  if (output.outcome === 'failed') return failJob(context, output.reason, at);
  const mine = (notice: Notice): boolean => job.notices.includes(notice.n);
  const notices = context.notices.map((notice): Notice => {
    if (!mine(notice)) return notice;
    if (job.type === 'edit')
      return job.ended.some(({ n }) => n === notice.n) ? { ...notice, state: 'closed' } : notice;
    const { messageId } = output;
    return { ...notice, messageId, state: notice.state === 'sending' ? 'sent' : notice.state };
  });
  const gone = finishedOf(notices);
  return {
    set: {
      notices: notices.filter((notice) => !gone.includes(notice)),
      current: null,
      sent: context.sent + (job.type === 'send' ? 1 : 0),
      failures: 0,
      failingSince: null,
      detail: null,
      updatedAt: at,
    },
    outputs: gone.map(({ n }) => writeRow('notices', n, null)),
  };
}

/** What a message says of others that still wait stays until they end, too. */
const finishedOf = (notices: readonly Notice[]): readonly Notice[] =>
  notices.filter(
    ({ message }) =>
      message !== null && notices.every((notice) => notice.message !== message || notice.state === 'closed'),
  );

/** It is tried again; but what no one waits for any more is not sent late. */
export function failJob(context: NotifierContext, reason: string, at: number): Done {
  const failures = Math.min(context.failures + 1, 32);
  const failed: NotifierContext = {
    ...context,
    failures,
    failingSince: context.failingSince ?? at,
    detail: reason.slice(0, limits.reasonCharsMax),
    updatedAt: at,
  };
  const isTried = context.current?.type === 'edit' && failures < editAttemptsMax;
  const { set, outputs } = isTried ? {} : dropPast(failed);
  return { set: { ...failed, ...set }, ...(outputs && { outputs }) };
}

/** A message that failed is given up where nothing in it waits any more; what it would have said leaves with it. */
export function dropPast(context: NotifierContext): Done {
  const { current, notices } = context;
  if (current === null) return {};
  const mine = notices.filter(({ n }) => current.notices.includes(n));
  if (current.type === 'send' && mine.some(({ state }) => state !== 'over')) return {};
  const left = notices.filter((notice) => !mine.includes(notice) || notice.state !== 'over');
  const gone = finishedOf(left);
  const kept = left.filter((notice) => !gone.includes(notice));
  return {
    set: {
      current: null,
      notices: kept,
      // A message that can be edited no more says nothing about the destination
      ...(current.type === 'edit' && { failures: 0, failingSince: null }),
    },
    outputs: notices.filter((notice) => !kept.includes(notice)).map(({ n }) => writeRow('notices', n, null)),
  };
}

/** That a message says "decided" is worth some attempts, not all. */
const editAttemptsMax = 5;

/** The destination is configured no more: what waits for others is read elsewhere. */
export const stopNotices = (context: NotifierContext, at: number): Done => ({
  set: { notices: [], current: null, failures: 0, failingSince: null, detail: null, updatedAt: at },
  outputs: context.notices.map(({ n }) => writeRow('notices', n, null)),
});
