import type { SocketModeClient } from '@slack/socket-mode';
import type { WebClient } from '@slack/web-api';
import { optionalPackage } from '../optional-package.js';
import {
  defineConnector,
  type Connector,
  type DeliveryResult,
  type Inbox,
  type MessageChoice,
  type OutboundMessage,
} from './connector.js';
import { codeOf, pieces, unanswered, withinLimits, type Patience, type RateLimited } from './delivering.js';
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
          : await listen(settings, client, web, inbox);
      return {
        send: (message, signal) => withinLimits(signal, patience, () => post(web, message)),
        edit: ({ channel, messageId, text }, signal) =>
          withinLimits(signal, patience, () =>
            outcomeOf(() =>
              web.chat
                .update({ channel, ts: messageId, text: harmless(text), blocks: [] })
                .then(() => messageId),
            ),
          ),
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

function post(
  web: WebClient,
  { channel, text, thread, choices = [] }: OutboundMessage,
): Promise<DeliveryResult | RateLimited> {
  return outcomeOf(async () => {
    const sent = await web.chat.postMessage({
      channel,
      text: harmless(text),
      ...(choices.length === 0 ? {} : { blocks: withButtons(harmless(text), choices) }),
      ...(thread === null ? {} : { thread_ts: thread }),
      unfurl_links: false,
      unfurl_media: false,
    });
    return sent.ts;
  });
}

/** No one is called by a text of an agent: `<!channel>` and its like are shown as they are written. */
const harmless = (text: string): string => text.replaceAll('<!', '&lt;!');

/** A section takes 3,000 characters, and as plain text nothing in it is a link or a mention. */
function withButtons(text: string, choices: readonly MessageChoice[]) {
  return [
    ...pieces(text, 2_900).map((piece) => ({
      type: 'section' as const,
      text: { type: 'plain_text' as const, text: piece, emoji: false },
    })),
    {
      type: 'actions' as const,
      elements: choices.map(({ label, value }, n) => ({
        type: 'button' as const,
        action_id: `troupe-${n}`,
        text: { type: 'plain_text' as const, text: label },
        value,
      })),
    },
  ];
}

/** What became of a call, by the error that it ended with. */
async function outcomeOf(call: () => Promise<string | undefined>): Promise<DeliveryResult | RateLimited> {
  try {
    const messageId = await call();
    return { outcome: 'sent', ...(messageId === undefined ? {} : { messageId }) };
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

/** A button that was pressed. */
interface SlackPress {
  readonly type?: string;
  readonly user?: { readonly id?: string };
  readonly channel?: { readonly id?: string };
  readonly message?: { readonly ts?: string };
  readonly trigger_id?: string;
  readonly actions?: readonly {
    readonly action_id?: string;
    readonly value?: string;
    readonly action_ts?: string;
  }[];
}

async function listen(
  settings: Settings,
  clientOptions: object,
  web: WebClient,
  inbox: Inbox,
): Promise<SocketModeClient> {
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
  const press = async ({ body, ack }: { body: SlackPress; ack: () => Promise<void> }): Promise<void> => {
    const [action] = body.actions ?? [];
    const [channel, user, ts] = [body.channel?.id, body.user?.id, body.message?.ts];
    try {
      if (body.type === 'block_actions' && channel && user && ts && action?.value) {
        const id = `${channel}-${ts}-${action.action_ts ?? ''}`;
        const said = await inbox({ id, channel, thread: ts, from: user, text: '', choice: action.value });
        if (typeof said === 'string')
          await web.chat.postEphemeral({ channel, user, text: harmless(said) }).catch(() => undefined);
      }
      await ack();
    } catch {
      // not acknowledged: Slack shows the person that it did not work
    }
  };
  socket.on('message', (message: Parameters<typeof take>[0]) => void take(message));
  socket.on('interactive', (pressed: Parameters<typeof press>[0]) => void press(pressed));
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
