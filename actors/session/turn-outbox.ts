import { activityLimits, openEntryIn, type ActivityEntry } from '../../machines/session/activity-entry.js';
import type { TurnContext } from './turn-permission.js';

/** How the messages of a turn's record reach its session, and which of them it already has. */
export interface OutboxOptions {
  readonly turnId: string;
  readonly context: Pick<TurnContext, 'send'>;
  readonly onFault: (error: unknown) => void;
}

/** A message of something that was going on when the turn ended. */
export const interrupted = (message: Omit<ActivityEntry, 'isOpen'>): ActivityEntry => ({
  ...message,
  isOpen: false,
  meta: { ...message.meta, state: 'interrupted' },
});

/** After a crash: what the turn had begun and did not end. */
export async function closeRecord(
  turnId: string,
  { context, onFault }: Omit<OutboxOptions, 'turnId'> & { context: Pick<TurnContext, 'send' | 'rows'> },
): Promise<void> {
  const isOfTurn = (row: unknown): boolean => openEntryIn(row)?.meta.turnId === turnId;
  const rows = await context.rows('messages', { last: activityLimits.openMax, where: isOfTurn });
  const outbox = createOutbox({ turnId, context, onFault });
  for (const message of rows.map(openEntryIn)) if (message !== undefined) outbox.put(interrupted(message));
  await outbox.drained();
}

/**
 * Which messages of a turn are stored as they will stay: for a gateway to which its events come again. Looks at the
 * youngest thousand; what is older than those was stored before them.
 */
export async function storedMessages(
  turnId: string,
  context: Pick<TurnContext, 'rows'>,
): Promise<(id: string) => boolean> {
  const isOfTurn = (row: unknown): boolean =>
    (row as { readonly meta?: { readonly turnId?: unknown } | null }).meta?.turnId === turnId;
  const rows = await context.rows('messages', { where: isOfTurn });
  const known = new Set(rows.map(({ id }) => id));
  const open = new Set(rows.flatMap((row) => openEntryIn(row)?.id ?? []));
  const numberOf = (id: string): number => Number(id.slice(turnId.length + 1));
  const oldest = Math.min(...rows.map(({ id }) => numberOf(id)).filter(Number.isInteger));
  return (id) => (known.has(id) ? !open.has(id) : numberOf(id) < oldest && rows.length >= rowsMax);
}

/** As many rows as one look answers. */
const rowsMax = 1_000;

export interface Outbox {
  /** Answers its id. */
  put(message: ActivityEntry): string;
  /** Resolves when nothing waits any more. */
  drained(): Promise<void>;
}

/** One event at a time, with all that waits; what is written again before it has left is written once. */
export function createOutbox({ turnId, context, onFault }: OutboxOptions): Outbox {
  const waiting = new Map<string, ActivityEntry>();
  let sending: Promise<void> | undefined;

  function batch(): readonly ActivityEntry[] {
    const taken: ActivityEntry[] = [];
    let bytes = 0;
    for (const message of waiting.values()) {
      bytes += Buffer.byteLength(JSON.stringify(message));
      const isFull = taken.length >= activityLimits.entriesMax || bytes > activityLimits.bytesMax / 2;
      if (isFull && taken.length > 0) break;
      taken.push(message);
    }
    for (const { id } of taken) waiting.delete(id);
    return taken;
  }

  const record = (entries: readonly ActivityEntry[]): Promise<void> =>
    context.send({ type: 'turn.recorded', turnId, entries });

  /** One that cannot be stored takes none of the others with it, and leaves a word in its place. */
  async function recordEach(entries: readonly ActivityEntry[]): Promise<void> {
    for (const entry of entries) {
      const { id, isOpen } = entry;
      await record([entry]).catch((error: unknown) => {
        onFault(error);
        const meta = { kind: entry.meta.kind, turnId, state: 'unstored' };
        return record([{ id, isOpen, content: 'This could not be stored.', meta }]).catch(onFault);
      });
    }
  }

  async function send(): Promise<void> {
    while (waiting.size > 0) {
      const entries = batch();
      await record(entries).catch(() => recordEach(entries));
    }
    sending = undefined;
  }

  return {
    put(message) {
      waiting.set(message.id, message);
      sending ??= send();
      return message.id;
    },
    drained: () => sending ?? Promise.resolve(),
  };
}
