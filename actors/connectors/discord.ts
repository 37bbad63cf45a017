import type { REST } from '@discordjs/rest';
import type { WebSocketManager } from '@discordjs/ws';
import { createHash } from 'node:crypto';
import type { APIInteraction, APIMessage, APIMessageComponentInteraction } from 'discord-api-types/v10';
import { optionalPackage } from '../optional-package.js';
import {
  defineConnector,
  type Connector,
  type DeliveryResult,
  type Inbox,
  type MessageChoice,
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

const restApi = () => optionalPackage('@discordjs/rest', () => import('@discordjs/rest'));
const socketApi = () => optionalPackage('@discordjs/ws', () => import('@discordjs/ws'));
const names = () => optionalPackage('discord-api-types', () => import('discord-api-types/v10'));

/**
 * Discord, through a bot. The channel is a channel id, the thread a message id that is answered to. No one is
 * ever pinged by a text of an agent. The message's key goes along as a nonce, by which Discord drops copies
 * for a few minutes.
 *
 * Settings: `botToken`, `apiRoot` (default https://discord.com/api), `timeoutSeconds` (default 15).
 * @example connectors: { instances: [{ name: team, type: discord, botToken: { env: DISCORD_TOKEN } }] } # config.yaml
 */
export const discord: Connector = createDiscord();

export function createDiscord(patience: Patience = {}): Connector {
  return defineConnector({
    type: 'discord',
    capabilities: { threading: true, messageEdits: true, reactions: true, attachments: true },
    async open(settings, signal, inbox) {
      const api = addressOf(settings, 'discord', 'apiRoot', 'https://discord.com/api');
      const token = secretOf(settings, 'discord', 'botToken');
      const { REST } = await restApi();
      const { Routes } = await names();
      const rest = new REST({
        version: '10',
        api,
        retries: 0,
        timeout: secondsOf(settings, 'discord', 15) * 1000,
        rejectOnRateLimit: () => true,
      }).setToken(token);
      const socket = inbox === undefined ? undefined : await listen(rest, token, inbox, signal);
      return {
        send: (message, aborting) =>
          inPieces(message.text, textCharsMax, (piece, n) =>
            withinLimits(aborting, patience, () => post(rest, message, piece, n, aborting)),
          ),
        edit: ({ channel, messageId, text }, aborting) =>
          withinLimits(aborting, patience, () =>
            outcomeOf(async () => {
              await rest.patch(Routes.channelMessage(channel, messageId), {
                signal: aborting,
                body: {
                  content: pieces(text, textCharsMax)[0] ?? text,
                  components: [],
                  allowed_mentions: { parse: [] },
                },
              });
              return messageId;
            }),
          ),
        async probe(aborting) {
          await rest.get(Routes.user(), { signal: aborting }).catch((error: unknown) => {
            throw new Error(`Discord rejected the bot token (${codeOf(error)}).`, { cause: error });
          });
        },
        async close() {
          await socket?.destroy();
          rest.clearHandlerSweeper();
          rest.clearHashSweeper();
        },
      };
    },
  });
}

/** Discord takes 2,000 characters. */
const textCharsMax = 2_000;

async function post(
  rest: REST,
  { channel, thread, key, text: whole, choices = [] }: OutboundMessage,
  text: string,
  n: number,
  signal: AbortSignal,
): Promise<DeliveryResult | RateLimited> {
  if (!/^\d{1,20}$/.test(channel))
    return { outcome: 'failed', reason: 'The channel of a Discord message must be a channel id.' };
  if (thread !== null && !/^\d{1,20}$/.test(thread))
    return {
      outcome: 'failed',
      reason: 'The thread of a Discord message must be the id of the message that it answers.',
    };
  const nonce = createHash('sha256').update(`${key} ${n}`).digest('base64url').slice(0, 25);
  const { Routes } = await names();
  // An edit reaches one message, and buttons stand below the whole text: where there are more pieces, none has them
  const isAlone = pieces(whole, textCharsMax).length === 1;
  return outcomeOf(async () => {
    const sent = (await rest.post(Routes.channelMessages(channel), {
      signal,
      body: {
        content: text,
        nonce,
        enforce_nonce: true,
        allowed_mentions: { parse: [] },
        ...(choices.length === 0 || !isAlone ? {} : { components: [rowOf(choices)] }),
        ...(thread === null ? {} : { message_reference: { message_id: thread, fail_if_not_exists: false } }),
      },
    })) as Partial<APIMessage>;
    return sent.id;
  });
}

/** A row of buttons, in the shapes of Discord's components: 1 is a row, 2 a button, its style 2 is grey. */
const rowOf = (choices: readonly MessageChoice[]) => ({
  type: 1,
  components: choices.map(({ label, value }) => ({ type: 2, style: 2, label, custom_id: value })),
});

/** What became of a call, by the error that it ended with. */
async function outcomeOf(call: () => Promise<string | undefined>): Promise<DeliveryResult | RateLimited> {
  try {
    const messageId = await call();
    return { outcome: 'sent', ...(typeof messageId === 'string' ? { messageId } : {}) };
  } catch (error) {
    const { DiscordAPIError, HTTPError, RateLimitError } = await restApi();
    if (error instanceof RateLimitError)
      return { retryAfterMs: Math.max(error.retryAfter, error.timeToReset, 0) };
    if (error instanceof DiscordAPIError)
      return { outcome: 'failed', reason: `Discord refused the message: ${error.message.slice(0, 300)}` };
    if (error instanceof HTTPError) {
      return error.status === 501 || error.status === 503
        ? { outcome: 'failed', reason: `Discord answered ${error.status}.` }
        : { outcome: 'unknown', reason: `Discord answered ${error.status}; it may have the message.` };
    }
    return unanswered('Discord', error);
  }
}

/**
 * Discord offers what is written in channels that the bot sees and in direct messages; it does not offer it
 * again, so what cannot be kept is lost and said.
 */
async function listen(
  rest: REST,
  token: string,
  inbox: Inbox,
  signal: AbortSignal,
): Promise<WebSocketManager> {
  const { WebSocketManager, WebSocketShardEvents } = await socketApi();
  const { GatewayDispatchEvents, GatewayIntentBits } = await names();
  const { GuildMessages, DirectMessages, MessageContent } = GatewayIntentBits;
  const manager = new WebSocketManager({
    token,
    intents: GuildMessages | DirectMessages | MessageContent,
    rest,
    shardCount: 1,
  });
  // It reconnects by itself; the probe says what is wrong
  manager.on(WebSocketShardEvents.Error, () => undefined);
  manager.on(WebSocketShardEvents.Dispatch, (payload) => {
    if (payload.t === GatewayDispatchEvents.InteractionCreate) return void press(rest, inbox, payload.d);
    if (payload.t !== GatewayDispatchEvents.MessageCreate) return;
    const { id, channel_id: channel, author, content } = payload.d;
    if (author.bot === true || content === '') return;
    void inbox({ id, channel, thread: null, from: author.id, text: content }).catch(() => undefined);
  });
  signal.addEventListener('abort', () => void manager.destroy(), { once: true });
  await manager.connect();
  return manager;
}

/** A button that was pressed. Discord waits three seconds for an answer, which only the one who pressed it sees. */
async function press(rest: REST, inbox: Inbox, pressed: APIInteraction): Promise<void> {
  const { id, token, channel, data, message } = pressed as APIMessageComponentInteraction;
  const from = pressed.member?.user.id ?? pressed.user?.id;
  if (pressed.type !== componentPressed || channel === undefined || from === undefined) return;
  const { Routes } = await names();
  const said = await inbox({
    id: `press-${id}`,
    channel: channel.id,
    thread: message.id,
    from,
    text: '',
    choice: data.custom_id,
  }).catch(() => 'It could not be stored. Try again.');
  const body =
    typeof said === 'string'
      ? { type: 4, data: { content: said.slice(0, textCharsMax), flags: onlyForThem } }
      : { type: 6 };
  await rest.post(Routes.interactionCallback(id, token), { body, auth: false }).catch(() => undefined);
}

const componentPressed = 3;
const onlyForThem = 64;
