import { createHmac } from 'node:crypto';
import type { Json } from '../../machines/outputs.js';
import { defineConnector, type Connector, type DeliveryResult, type OutboundMessage } from './connector.js';
import { codeOf, unanswered, withinLimits, type Patience, type RateLimited } from './delivering.js';
import { secondsOf, secretOf } from './settings.js';

/**
 * A webhook: each message is one signed POST to a configured address.
 *
 * Body: `{"id": KEY, "channel": …, "text": …, "thread": … | null}` as JSON. Headers:
 *
 * | header | value |
 * |---|---|
 * | `x-svc-timestamp` | seconds since 1970, when it was signed |
 * | `x-svc-signature` | `sha256=` + hex of HMAC-SHA256 with the shared secret over `<timestamp>.<body>` |
 * | `idempotency-key` | the same for every attempt at one message |
 *
 * The receiver recomputes the signature over the bytes that it got, compares in constant time, refuses old
 * timestamps, and ignores a key that it has seen. A 2xx means sent; a JSON answer may name the message by
 * `id`. 429 is tried again after `Retry-After` (at most `retryAfterSecondsMax`, thrice). Redirects are
 * failures: a signature is for one receiver.
 *
 * Settings: `url` (http or https), `secret` (at least 16 characters), `timeoutSeconds` (default 10).
 * @example
 *   connectors: # config.yaml
 *     instances: [{ name: hook, type: webhook, url: https://a.example/in, secret: { env: HOOK } }]
 */
export const webhook: Connector = createWebhook();

/** `createConnectorRegistry({connectors: [createWebhook()], …})` */
export function createWebhook(patience: Patience = {}): Connector {
  return defineConnector({
    type: 'webhook',
    capabilities: { threading: true, messageEdits: false, reactions: false, attachments: false },
    async open(settings) {
      const { url, secret, timeoutMs } = readSettings(settings);
      return {
        send: (message, signal) =>
          withinLimits(signal, patience, () =>
            post(url, secret, message, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])),
          ),
        /** Any answer at all shows that someone is there; OPTIONS promises to change nothing. */
        async probe(signal) {
          try {
            const answer = await fetch(url, {
              method: 'OPTIONS',
              redirect: 'manual',
              signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
            });
            await answer.body?.cancel();
          } catch (error) {
            throw new Error(`${url.origin} does not answer (${codeOf(error)}).`, { cause: error });
          }
        },
        close: () => Promise.resolve(),
      };
    },
  });
}

/** `sha256=…` as in `x-svc-signature`; for receivers and their specs. */
export const webhookSignature = (secret: string, timestamp: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;

const answerCharsMax = 64 * 1024;

function readSettings(settings: Readonly<Record<string, Json>>): {
  readonly url: URL;
  readonly secret: string;
  readonly timeoutMs: number;
} {
  const { url: address } = settings;
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new Error('A webhook needs a url that begins with http:// or https://.');
  if (url.username !== '' || url.password !== '')
    throw new Error('The url of a webhook must not carry a name or password; use the secret.');
  const secret = secretOf(settings, 'webhook', 'secret');
  if (secret.length < 16) throw new Error('A webhook needs a secret of at least 16 characters.');
  return { url, secret, timeoutMs: secondsOf(settings, 'webhook', 10) * 1000 };
}

async function post(
  url: URL,
  secret: string,
  message: OutboundMessage,
  signal: AbortSignal,
): Promise<DeliveryResult | RateLimited> {
  const body = JSON.stringify({
    id: message.key,
    channel: message.channel,
    text: message.text,
    thread: message.thread,
  });
  const timestamp = String(Math.floor(Date.now() / 1000));
  try {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal,
      body,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'idempotency-key': message.key,
        'x-svc-timestamp': timestamp,
        'x-svc-signature': webhookSignature(secret, timestamp, body),
      },
    });
    return await judge(answer);
  } catch (error) {
    return unanswered(url.origin, error);
  }
}

async function judge(answer: Response): Promise<DeliveryResult | RateLimited> {
  const { status } = answer;
  if (status === 429) {
    await answer.body?.cancel();
    return { retryAfterMs: retryAfter(answer.headers.get('retry-after')) };
  }
  if (answer.ok) {
    const messageId = await answerId(answer);
    return { outcome: 'sent', ...(messageId === undefined ? {} : { messageId }) };
  }
  await answer.body?.cancel();
  // 501 and 503 say that it was not handled; any other 5xx may have failed half-way
  if (status >= 500 && status !== 501 && status !== 503)
    return { outcome: 'unknown', reason: `The service answered ${status}; it may have the message.` };
  return { outcome: 'failed', reason: `The service answered ${status}.` };
}

/** Seconds or a date; without either a second. */
function retryAfter(header: string | null): number {
  if (header === null || header.trim() === '') return 1_000;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? 1_000 : Math.max(0, at - Date.now());
}

/**
 * The message was taken, so nothing in the answer's body can make it unsent: a body that is too long or
 * broken names nothing.
 */
async function answerId(answer: Response): Promise<string | undefined> {
  try {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.length > answerCharsMax) return undefined;
    }
    const { id } = JSON.parse(text) as { readonly id?: unknown };
    return typeof id === 'string' || typeof id === 'number' ? String(id).slice(0, 200) : undefined;
  } catch {
    return undefined;
  }
}
