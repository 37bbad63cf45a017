import type {
  NoticeInput,
  NoticeOutput,
  NotifierEvent,
  NotifierRows,
} from '../../machines/notifier/context.js';
import { bounded } from '../connector/connection.js';
import type { ConnectorLinks } from '../connector/links.js';
import type { ConnectorLink, DeliveryResult } from '../connectors/connector.js';
import type { AtLeastOnceEffect, EffectContext } from '../contracts.js';
import { reap } from '../engines/process.js';
import { runProgram } from './program.js';
import { jsonOf, textOf, type NoticeRead } from './wording.js';

/**
 * The effect of one message of a notifier. At least once: a person who is not asked holds up work, one who is asked
 * twice does not. Where the remote service tells copies by a key, it gets the same one each time.
 */
export interface MessageEffectOptions {
  readonly links: ConnectorLinks;
  readonly settings: () => MessageSettings;
  /** Where the program is started. */
  readonly folder: string;
  /** To a paired browser. Absent: there are none. */
  readonly push?: (
    device: string,
    message: { readonly tag: string; readonly waiting: number; readonly isNew: boolean },
    context: EffectContext,
  ) => Promise<NoticeOutput>;
  /** Takes secrets of the gateway out of what leaves it. */
  readonly redact?: <Value>(value: Value) => Value;
}

export interface MessageSettings {
  readonly command: readonly string[] | null;
  readonly timeoutSeconds: number;
  readonly to: readonly {
    readonly connector: string;
    readonly channel: string;
    readonly decidedBy: readonly string[];
  }[];
}

export function messageEffect({
  links,
  settings,
  folder,
  push,
  redact = (value) => value,
}: MessageEffectOptions): AtLeastOnceEffect<NoticeInput, NoticeOutput, NotifierRows, NotifierEvent> {
  return {
    guarantee: 'at-least-once',
    async run(input, context) {
      const notices = redact(await noticesOf(input, context));
      if (notices.length === 0) return { outcome: 'sent', messageId: null };
      const { destination } = input;
      if (destination.type === 'connector') return redact(await send(input, destination, notices, context));
      if (destination.type === 'push') {
        const { job } = input;
        const waiting = notices.filter(({ outcome }) => outcome === undefined).length;
        const message = { tag: `m${job.message}`, waiting, isNew: job.type === 'send' };
        return push === undefined
          ? { outcome: 'failed', reason: 'No browser can be paired here.' }
          : redact(await push(destination.device, message, context));
      }
      if (context.checkpointed !== undefined) await reap(context.checkpointed);
      const { command, timeoutSeconds } = settings();
      if (command === null)
        return { outcome: 'failed', reason: 'notify.command is not configured any more.' };
      const text = jsonOf(input.job, input.key, notices);
      return redact(await runProgram(command, { stdin: text, timeoutSeconds, folder, context }));
    },
  };

  async function send(
    { job, key }: NoticeInput,
    { connector, channel }: { readonly connector: string; readonly channel: string },
    notices: readonly NoticeRead[],
    { signal }: EffectContext,
  ): Promise<NoticeOutput> {
    const { timeoutSeconds, to } = settings();
    const link = await links.opened(connector, signal, timeoutSeconds * 1_000);
    if (link === undefined) return { outcome: 'failed', reason: `The connector "${connector}" is not open.` };
    const text = textOf(notices);
    const edited = job.type === 'edit';
    if (edited && (link.edit === undefined || job.messageId === null))
      return { outcome: 'sent', messageId: job.messageId };
    const isAnswered = to.some(
      (one) => one.connector === connector && one.channel === channel && one.decidedBy.length > 0,
    );
    const result = await bounded(signal, timeoutSeconds, (limited) =>
      edited
        ? editThrough(link, { channel, messageId: job.messageId ?? '', text }, limited)
        : link.send(
            { channel, text, thread: null, key, choices: isAnswered ? choicesOf(notices) : [] },
            limited,
          ),
    );
    return result.outcome === 'sent'
      ? { outcome: 'sent', messageId: result.messageId ?? null }
      : { outcome: 'failed', reason: result.reason };
  }
}

const editThrough = async (
  link: ConnectorLink,
  message: { readonly channel: string; readonly messageId: string; readonly text: string },
  signal: AbortSignal,
): Promise<DeliveryResult> =>
  (await link.edit?.(message, signal)) ?? { outcome: 'sent', messageId: message.messageId };

/** One thing alone has buttons: of several it would not be plain which one a button means. */
function choicesOf(notices: readonly NoticeRead[]): { readonly label: string; readonly value: string }[] {
  const [one, ...more] = notices;
  return one === undefined || more.length > 0
    ? []
    : one.choices.map(({ choice, label }) => ({ label, value: `${one.n}.${one.digest}.${choice}` }));
}

async function noticesOf(
  { job }: NoticeInput,
  context: EffectContext<NotifierRows, NotifierEvent>,
): Promise<readonly NoticeRead[]> {
  const rows = await context.rows('notices');
  const outcomes = new Map(job.ended.map(({ n, outcome }) => [n, outcome]));
  return rows
    .filter(({ n }) => job.notices.includes(n))
    .map((row) => ({ ...row, outcome: outcomes.get(row.n) }));
}
