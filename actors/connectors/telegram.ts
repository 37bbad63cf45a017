import type { Api } from 'grammy';
import type { CallbackQuery } from 'grammy/types';
import { setTimeout as delay } from 'node:timers/promises';
import { optionalPackage } from '../optional-package.js';
import {
  defineConnector,
  type Connector,
  type DeliveryResult,
  type Inbox,
  type OutboundMessage,
} from './connector.js';
import {
  codeOf,
  inPieces,
  pieces,
  unanswered,
  withinLimits,
  type Patience,
  type RateLimited,
} from './delivering.js';
import { addressOf, secondsOf, secretOf } from './settings.js';

const grammy = () => optionalPackage('grammy', () => import('grammy'));

/**
 * Telegram, through a bot. The channel is a chat id or `@name`, the thread a message id that is answered to.
 * With someone who listens, updates are fetched by long polling; the far side forgets one only after it was
 * kept here.
 *
 * Settings: `botToken`, `apiRoot` (default https://api.telegram.org), `timeoutSeconds` (default 20).
 * @example connectors: { instances: [{ name: chat, type: telegram, botToken: { env: TELEGRAM_TOKEN } }] } # config.yaml
 */
export const telegram: Connector = createTelegram();

export function createTelegram(patience: Patience = {}): Connector {
  return defineConnector({
    type: 'telegram',
    capabilities: { threading: true, messageEdits: true, reactions: true, attachments: true },
    async open(settings, _signal, inbox) {
      const timeoutSeconds = secondsOf(settings, 'telegram', 20);
      const apiRoot = addressOf(settings, 'telegram', 'apiRoot', 'https://api.telegram.org');
      const token = secretOf(settings, 'telegram', 'botToken');
      const { Api } = await grammy();
      const api = new Api(token, { apiRoot, timeoutSeconds });
      const closing = new AbortController();
      const listening = inbox === undefined ? undefined : listen(api, inbox, closing.signal);
      return {
        send: (message, signal) =>
          inPieces(message.text, textCharsMax, (piece) =>
            withinLimits(signal, patience, () => post(api, { ...message, text: piece }, signal)),
          ),
        edit: ({ channel, messageId, text }, signal) =>
          withinLimits(signal, patience, () =>
            outcomeOf(async () => {
              const short = pieces(text, textCharsMax)[0] ?? text;
              await api
                .editMessageText(channel, Number(messageId), short, {}, signal as never)
                .catch(unlessSame);
              return messageId;
            }),
          ),
        async probe(signal) {
          await api.getMe(signal as never).catch(async (error: unknown) => {
            throw new Error(`Telegram rejected the bot token (${await reasonOf(error)}).`, { cause: error });
          }); // grammy types the signal of an older polyfill
        },
        async close() {
          closing.abort();
          await listening;
        },
      };
    },
  });
}

/** Telegram takes 4,096 characters. */
const textCharsMax = 4_096;

async function post(
  api: Api,
  { channel, thread, text, choices = [] }: OutboundMessage,
  signal: AbortSignal,
): Promise<DeliveryResult | RateLimited> {
  const answered = Number(thread);
  if (thread !== null && !(Number.isSafeInteger(answered) && answered > 0))
    return {
      outcome: 'failed',
      reason: 'The thread of a Telegram message must be the id of the message that it answers.',
    };
  return outcomeOf(async () => {
    const buttons = choices.map(({ label, value }) => ({ text: label, callback_data: value }));
    const sent = await api.sendMessage(
      channel,
      text,
      {
        ...(thread === null
          ? {}
          : { reply_parameters: { message_id: answered, allow_sending_without_reply: true } }),
        ...(buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: [buttons] } }),
      },
      signal as never,
    );
    return String(sent.message_id);
  });
}

/** Edited before, and the answer was lost: it reads as it should. */
function unlessSame(error: unknown): void {
  if (!/message is not modified/.test(String((error as { description?: unknown } | null)?.description)))
    throw error;
}

/** What became of a call, by the error that it ended with. */
async function outcomeOf(call: () => Promise<string>): Promise<DeliveryResult | RateLimited> {
  try {
    return { outcome: 'sent', messageId: await call() };
  } catch (error) {
    const { GrammyError } = await grammy();
    if (!(error instanceof GrammyError)) return unanswered('Telegram', error);
    if (error.error_code === 429) return { retryAfterMs: (error.parameters.retry_after ?? 1) * 1000 };
    if (error.error_code >= 500)
      return {
        outcome: 'unknown',
        reason: `Telegram answered ${error.error_code}; it may have the message.`,
      };
    return { outcome: 'failed', reason: `Telegram refused the message: ${error.description}` };
  }
}

async function listen(api: Api, inbox: Inbox, signal: AbortSignal): Promise<void> {
  let offset = 0;
  while (!signal.aborted) {
    try {
      const updates = await api.getUpdates(
        { offset, timeout: pollSeconds, allowed_updates: ['message', 'callback_query'] },
        signal as never,
      );
      for (const { update_id: id, message, callback_query: pressed } of updates) {
        if (pressed !== undefined) await press(api, inbox, pressed);
        const { text, chat, from } = message ?? {};
        if (text !== undefined && chat !== undefined && from !== undefined && !from.is_bot) {
          await inbox({
            id: String(id),
            channel: String(chat.id),
            thread: null,
            from: String(from.id),
            text,
          });
        }
        offset = id + 1; // the next request from here on confirms to Telegram that this one was kept
      }
    } catch {
      // The probe says what is wrong; nothing is lost meanwhile
      await delay(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** A button that was pressed: who pressed it is shown what came of it. */
async function press(api: Api, inbox: Inbox, { id, from, data, message }: CallbackQuery): Promise<void> {
  if (data === undefined || message === undefined || from.is_bot) return;
  const said = await inbox({
    id: `press-${id}`,
    channel: String(message.chat.id),
    thread: String(message.message_id),
    from: String(from.id),
    text: '',
    choice: data,
  });
  // Too late to be shown is no reason to be told again
  await api
    .answerCallbackQuery(id, typeof said === 'string' ? { text: said.slice(0, 200), show_alert: true } : {})
    .catch(() => undefined);
}

const pollSeconds = 10; // less than the time limit of a call
const retryMs = 2_000;

async function reasonOf(error: unknown): Promise<string> {
  const { GrammyError } = await grammy();
  return error instanceof GrammyError ? error.description : codeOf(error);
}
