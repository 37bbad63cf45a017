import type { REST } from '@discordjs/rest';
import type { WebSocketManager } from '@discordjs/ws';
import { createHash } from 'node:crypto';
import type { APIMessage } from 'discord-api-types/v10';
import { optionalPackage } from '../optional-package.js';
import {
  defineConnector,
  type Connector,
  type DeliveryResult,
  type Inbox,
  type OutboundMessage,
} from './connector.js';
import { codeOf, inPieces, unanswered, withinLimits, type Patience, type RateLimited } from './delivering.js';
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
  { channel, thread, key }: OutboundMessage,
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
  try {
    const sent = (await rest.post(Routes.channelMessages(channel), {
      signal,
      body: {
        content: text,
        nonce,
        enforce_nonce: true,
        allowed_mentions: { parse: [] },
        ...(thread === null ? {} : { message_reference: { message_id: thread, fail_if_not_exists: false } }),
      },
    })) as Partial<APIMessage>;
    return { outcome: 'sent', ...(typeof sent.id === 'string' ? { messageId: sent.id } : {}) };
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
    if (payload.t !== GatewayDispatchEvents.MessageCreate) return;
    const { id, channel_id: channel, author, content } = payload.d;
    if (author.bot === true || content === '') return;
    void inbox({ id, channel, thread: null, from: author.id, text: content }).catch(() => undefined);
  });
  signal.addEventListener('abort', () => void manager.destroy(), { once: true });
  await manager.connect();
  return manager;
}
