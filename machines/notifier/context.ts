import type { Stamp } from '../outputs.js';
import { isoTime, isoTimeOrNull } from '../sortable.js';

/**
 * The shapes of a notifier: what waits for a person, on its way to one destination. Which program is started and the
 * secrets of connectors never come here: the effect reads them from the configuration.
 */

/** Where notices go: a channel of a connector, the program that `notify.command` names, or a paired browser. */
export type Destination =
  | { readonly type: 'connector'; readonly connector: string; readonly channel: string }
  | { readonly type: 'command' }
  | { readonly type: 'push'; readonly device: string };

/** `input` of the machine; the kernel adds `id`, `at`, `by`. */
export interface NotifierInput {
  readonly id: string;
  readonly at: number;
  readonly destination: Destination;
}

/** A thing that waits, as a person reads it. */
export interface NoticeRow {
  readonly n: number;
  readonly kind: string;
  readonly id: string;
  readonly waitingId: string;
  readonly what: string;
  readonly title: string;
  /** What exactly is asked, as far as it fits. */
  readonly text: string;
  readonly on: string;
  readonly since: number;
  readonly until: number | null;
  /** Where it is decided. */
  readonly link: string;
  /** Choices that may be made where it is read: all that is asked can be read there. */
  readonly choices: readonly { readonly choice: string; readonly label: string }[];
  /** Hash of all of the above that a decision rests on. */
  readonly digest: string;
}

/** What is remembered of it; what it says is a row of `notices`. */
export type Notice = {
  readonly n: number;
  /** Kind, actor and thing: `session/s1/t1:bash`. */
  readonly key: string;
  readonly digest: string;
  readonly at: number;
  readonly dueAt: number;
  readonly state: NoticeState;
  /** The first notice of the message that says it; null: none yet. */
  readonly message: number | null;
  /** The remote service's name of that message. */
  readonly messageId: string | null;
  /** How it ended, in words; null: it waits. */
  readonly outcome: string | null;
};

/** `over`: it waits no more, and its message says so not yet. `closed`: it does. */
export type NoticeState = 'held' | 'sending' | 'sent' | 'over' | 'closed';

/** One message: of what waits, or what is now to be read in its place. */
export type Job = {
  readonly type: 'send' | 'edit';
  readonly message: number;
  readonly notices: readonly number[];
  /** Those of them that wait no more, and how they ended. */
  readonly ended: readonly { readonly n: number; readonly outcome: string }[];
  readonly messageId: string | null;
};

/** What a notifier remembers. */
export interface NotifierContext {
  readonly id: string;
  readonly destination: Destination;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Notices so far. */
  readonly noticed: number;
  readonly notices: readonly Notice[];
  readonly current: Job | null;
  /** Messages sent. */
  readonly sent: number;
  /** Failures since the last message arrived, and since when. */
  readonly failures: number;
  readonly failingSince: number | null;
  readonly detail: string | null;
}

/** The effect of one message. */
export interface NoticeInput {
  readonly destination: Destination;
  readonly job: Job;
  /** The same for every attempt at it. */
  readonly key: string;
}

export type NoticeOutput =
  | { readonly outcome: 'sent'; readonly messageId: string | null }
  | { readonly outcome: 'failed'; readonly reason: string };

/** The rows of a notifier by collection. */
export interface NotifierRows {
  readonly notices: NoticeRow;
}

/** What began to wait: as it is read, and how long it is held back. */
export type NewNotice = Omit<NoticeRow, 'n'> & { readonly delayMs: number };

/** What a notifier takes. */
export type NotifierEvent = Stamp &
  (
    | {
        readonly type: 'notices.changed';
        readonly added: readonly NewNotice[];
        /** `erased`: what its row says goes as well. */
        readonly over: readonly { readonly n: number; readonly outcome: string; readonly erased?: true }[];
      }
    | { readonly type: 'notifier.start'; readonly destination: Destination }
    | { readonly type: 'notifier.stop' }
    | { readonly type: 'notifier.retry' }
  );

export type NotifierEventOf<Type extends NotifierEvent['type']> = Extract<NotifierEvent, { type: Type }>;

export const limits = {
  /** Open at once; what else waits is noticed as these end. */
  noticesMax: 60,
  /** More than so many that are due within so long are one message. */
  apartMax: 3,
  togetherMs: 5_000,
  /** In one message. */
  batchMax: 20,
  reasonCharsMax: 500,
  outcomeCharsMax: 200,
  textCharsMax: 2_000,
} as const;

export const firstContext = ({ id, at, destination }: NotifierInput): NotifierContext => ({
  id,
  destination,
  createdAt: at,
  updatedAt: at,
  noticed: 0,
  notices: [],
  current: null,
  sent: 0,
  failures: 0,
  failingSince: null,
  detail: null,
});

/** `noticeKey({ kind: 'session', id: 's1', waitingId: 'p1' })`: one thing that waits, of all. */
export const noticeKey = ({ kind, id, waitingId }: Pick<NoticeRow, 'kind' | 'id' | 'waitingId'>): string =>
  `${kind}/${id}/${waitingId}`;

/** The other way: neither kinds nor ids of actors hold a slash. */
export function thingOfKey(key: string): Pick<NoticeRow, 'kind' | 'id' | 'waitingId'> {
  const [kind = '', id = '', ...rest] = key.split('/');
  return { kind, id, waitingId: rest.join('/') };
}

/** A notifier as `GET /api/notifications` shows it. */
export type NotifierView = ReturnType<typeof notifierView>;

/**
 * A notifier as the API shows it. Never throws.
 * @example const { status, detail } = notifierView(snapshot.value, snapshot.context);
 */
export const notifierView = (status: NotifierStatus, context: NotifierContext) => ({
  name: context.id,
  destination: context.destination,
  status,
  open: context.notices.filter(({ state }) => state !== 'over' && state !== 'closed').length,
  notices: context.notices,
  sent: context.sent,
  failures: context.failures,
  failingSince: isoTimeOrNull(context.failingSince),
  detail: context.detail,
  createdAt: isoTime(context.createdAt),
  updatedAt: isoTime(context.updatedAt),
});

export type NotifierStatus = 'idle' | 'holding' | 'sending' | 'pausing' | 'stopped';
