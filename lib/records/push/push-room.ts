import { basename } from 'node:path';
import { isRefusal } from '../../../machines/refusals.js';
import { readPlainFile, writeAtomically } from '../../home/atomic-file.js';
import type { Environment } from '../../environment.js';
import { fetchBytes, type FetchOptions } from '../fetch/fetch-bytes.js';
import {
  encryptPush,
  newPushKey,
  publicPushKey,
  vapidHeader,
  type PushSubscription,
} from './encrypt-push.js';

/**
 * Sends to browsers through their push services. Where a message goes was said by a browser, so it is fetched like any
 * address that someone gave: https, public, never redirected. By what key this home sends stands in a file of its own,
 * made when the first browser asks.
 */
export interface PushRoom {
  /** Base64url: `applicationServerKey` of the browsers. */
  publicKey(): Promise<string>;
  /**
   * Hands a message to the push service. `gone`: there is no such subscription any more. Never rejects.
   * @example await push.send(subscription, { text: '{}', topic: 'm1', urgency: 'high' }, signal) // { outcome: 'sent' }
   */
  send(to: PushSubscription, message: PushMessage, signal: AbortSignal): Promise<PushResult>;
}

export interface PushMessage {
  /** At most 3,000 bytes. */
  readonly text: string;
  /** One that was not delivered yet is replaced by the next of the same topic: at most 32 of base64url. */
  readonly topic: string;
  readonly urgency: 'high' | 'low';
  /** Who sends, as an address: RFC 8292. */
  readonly contact: string;
  readonly timeoutMs: number;
}

export type PushResult =
  | { readonly outcome: 'sent' | 'gone' }
  | { readonly outcome: 'failed'; readonly reason: string };

export interface PushRoomOptions {
  /** The file of the key. 0600. */
  readonly path: string;
  readonly environment: Pick<Environment, 'clock'>;
  readonly fetch?: Pick<FetchOptions, 'resolve' | 'dial' | 'ca'>;
}

export function openPushRoom({ path, environment, fetch = {} }: PushRoomOptions): PushRoom {
  let reading: Promise<Buffer> | undefined;
  const key = (): Promise<Buffer> => {
    reading ??= readOrMakeKey(path).catch((error: unknown) => {
      reading = undefined; // the disk may be full for a moment
      throw error;
    });
    return reading;
  };
  return {
    publicKey: async () => publicPushKey(await key()).toString('base64url'),
    async send(to, { text, topic, urgency, contact, timeoutMs }, signal) {
      const { endpoint } = to;
      if (!isPushAddress(endpoint)) return { outcome: 'gone' };
      const answered = new AbortController();
      try {
        const answer = await fetchBytes(endpoint, {
          ...fetch,
          method: 'POST',
          content: encryptPush(text, to),
          headers: {
            authorization: vapidHeader(await key(), { endpoint, contact, now: environment.clock.now() }),
            'content-encoding': 'aes128gcm',
            'content-type': 'application/octet-stream',
            ttl: String(daySeconds),
            urgency,
            topic,
          },
          bytesMax: Infinity, // none of it is read: a body that is endless or broken must not send a message again
          timeoutMs,
          signal: AbortSignal.any([signal, answered.signal]),
        });
        if (!isRefusal(answer)) return { outcome: 'sent' };
        const { answered: status = 0 } = answer.details as { readonly answered?: number };
        if (status >= 200 && status <= 299) return { outcome: 'sent' };
        return status === 404 || status === 410
          ? { outcome: 'gone' }
          : { outcome: 'failed', reason: `The browser's push service: ${answer.message}` };
      } catch (error) {
        return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
      } finally {
        answered.abort(); // else the connection stays open
      }
    },
  };
}

/** https, without a user name: where it leads is judged when something is sent. */
export function isPushAddress(endpoint: string): boolean {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  return url?.protocol === 'https:' && url.username === '' && url.password === '' && endpoint.length <= 1_024;
}

/** Is it a public key of P-256, and a secret of 16 bytes? */
export function arePushKeys({ p256dh, auth }: PushSubscription['keys']): boolean {
  if (Buffer.from(auth, 'base64url').length !== 16) return false;
  try {
    encryptPush('', { endpoint: '', keys: { p256dh, auth } });
    return Buffer.from(p256dh, 'base64url').length === 65;
  } catch {
    return false;
  }
}

async function readOrMakeKey(path: string): Promise<Buffer> {
  const kept = await readPlainFile(path, 1_024);
  if (kept !== undefined) {
    const key = keyIn(kept.toString('utf8'));
    if (key === undefined)
      throw new Error(`${basename(path)} of the home is damaged. Remove it; browsers must then ask again.`);
    return key;
  }
  const key = newPushKey();
  const content = `${JSON.stringify({ privateKey: key.toString('base64url') })}\n`;
  await writeAtomically(path, content, { mode: 0o600, unlessChangedFrom: null });
  return key;
}

function keyIn(text: string): Buffer | undefined {
  try {
    const { privateKey } = JSON.parse(text) as { readonly privateKey: string };
    const key = Buffer.from(privateKey, 'base64url');
    publicPushKey(key);
    return key.length === 32 ? key : undefined;
  } catch {
    return undefined; // the parser's own message would quote the key
  }
}

const daySeconds = 86_400;
