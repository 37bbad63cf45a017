import type { SocketModeClient } from '@slack/socket-mode';
import type { WebClient } from '@slack/web-api';
import { optionalPackage } from '../optional-package.js';
import {
  defineConnector,
  type Connector,
  type DeliveryResult,
  type Inbox,
  type OutboundMessage,
} from './connector.js';
import { codeOf, unanswered, withinLimits, type Patience, type RateLimited } from './delivering.js';
import { addressOf, secondsOf, secretOf, type Settings } from './settings.js';

const webApi = () => optionalPackage('@slack/web-api', () => import('@slack/web-api'));
const socketMode = () => optionalPackage('@slack/socket-mode', () => import('@slack/socket-mode'));

/**
 * Slack, through an app. The channel is a channel's id or name, the thread the `ts` of the message that is
 * answered to. With an app-level token and someone who listens, messages come in by socket mode; each is
 * acknowledged after it was kept.
 *
 * Settings: `botToken` (xoxb-…), `appToken` (xapp-…, to receive), `apiRoot` (default https://slack.com/api/),
 * `timeoutSeconds` (default 15).
 * @example connectors: { instances: [{ name: team, type: slack, botToken: { env: SLACK_TOKEN } }] } # config.yaml
 */
export const slack: Connector = createSlack();

export function createSlack(patience: Patience = {}): Connector {
  return defineConnector({
    type: 'slack',
    capabilities: { threading: true, messageEdits: true, reactions: true, attachments: true },
    async open(settings, _signal, inbox) {
      const slackApiUrl = addressOf(settings, 'slack', 'apiRoot', 'https://slack.com/api/');
      const client = {
        slackApiUrl,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        timeout: secondsOf(settings, 'slack', 15) * 1000,
        logger: quiet,
      };
      const token = secretOf(settings, 'slack', 'botToken');
      const { WebClient } = await webApi();
      const web = new WebClient(token, client);
      const socket =
        inbox === undefined || settings['appToken'] === undefined
          ? undefined
          : await listen(settings, client, inbox);
      return {
        send: (message, signal) => withinLimits(signal, patience, () => post(web, message)),
        async probe() {
          await web.auth.test().catch(async (error: unknown) => {
            throw new Error(`Slack rejected the token (${await reasonOf(error)}).`, { cause: error });
          });
        },
        async close() {
          await socket?.disconnect();
        },
      };
    },
  });
}

async function post(
  web: WebClient,
  { channel, text, thread }: OutboundMessage,
): Promise<DeliveryResult | RateLimited> {
  try {
    // no one is called by a text of an agent: `<!channel>` and its like are shown as they are written
    const sent = await web.chat.postMessage({
      channel,
      text: text.replaceAll('<!', '&lt;!'),
      ...(thread === null ? {} : { thread_ts: thread }),
      unfurl_links: false,
      unfurl_media: false,
    });
    return { outcome: 'sent', ...(sent.ts === undefined ? {} : { messageId: sent.ts }) };
  } catch (error) {
    const { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError } = await webApi();
    if (error instanceof WebAPIRateLimitedError) return { retryAfterMs: error.retryAfter * 1000 };
    if (error instanceof WebAPIPlatformError)
      return { outcome: 'failed', reason: `Slack refused the message: ${error.data.error}` };
    if (error instanceof WebAPIHTTPError) {
      return error.statusCode < 500 || error.statusCode === 501 || error.statusCode === 503
        ? { outcome: 'failed', reason: `Slack answered ${error.statusCode}.` }
        : { outcome: 'unknown', reason: `Slack answered ${error.statusCode}; it may have the message.` };
    }
    return unanswered('Slack', error);
  }
}

interface SlackMessage {
  readonly type: string;
  readonly subtype?: string;
  readonly bot_id?: string;
  readonly channel?: string;
  readonly user?: string;
  readonly text?: string;
  readonly ts?: string;
  readonly thread_ts?: string;
}

async function listen(settings: Settings, clientOptions: object, inbox: Inbox): Promise<SocketModeClient> {
  const appToken = secretOf(settings, 'slack', 'appToken');
  const { SocketModeClient } = await socketMode();
  const socket = new SocketModeClient({ appToken, clientOptions, logger: quiet });
  socket.on('error', () => undefined); // it reconnects by itself; the probe says what is wrong
  const take = async ({ event, ack }: { event: SlackMessage; ack: () => Promise<void> }): Promise<void> => {
    const { channel, user, text, ts, thread_ts: thread } = event;
    const isTheirs = event.subtype === undefined && event.bot_id === undefined;
    try {
      if (isTheirs && channel && user && text && ts)
        await inbox({
          id: `${channel}-${ts}`,
          channel,
          thread: channel.startsWith('D') && thread === undefined ? null : (thread ?? ts),
          from: user,
          text,
        });
      await ack();
    } catch {
      // not acknowledged: Slack says it again
    }
  };
  socket.on('message', (message: Parameters<typeof take>[0]) => void take(message));
  await socket.start();
  return socket;
}

async function reasonOf(error: unknown): Promise<string> {
  const { WebAPIPlatformError } = await webApi();
  return error instanceof WebAPIPlatformError ? error.data.error : codeOf(error);
}

/** Slack's own logger writes to the console, tokens and texts included. */
const silent = (): void => undefined;
const quiet = {
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  setLevel: silent,
  getLevel: () => 'error' as never,
  setName: silent,
};
