import { createCipheriv, createECDH, createPrivateKey, hkdfSync, randomBytes, sign } from 'node:crypto';

/** What a browser gives those who may send to it, as `PushSubscription.toJSON()` has it. */
export interface PushSubscription {
  /** Address at the browser's push service: a secret, as it is all that one needs to send. */
  readonly endpoint: string;
  /** Base64url: the browser's public key (65 bytes), and the secret of both (16 bytes). */
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** As it is kept: a subscription takes messages of the one key alone for which it was made. */
export interface KeptSubscription extends PushSubscription {
  /** Public key of this home then, base64url. */
  readonly sender: string;
}

/** Fixed in specs alone: each message has its own. */
export interface PushEntropy {
  /** A private key of P-256. */
  readonly key: Buffer;
  /** 16 bytes. */
  readonly salt: Buffer;
}

/**
 * A message that no push service can read: RFC 8291, one record of RFC 8188 (`aes128gcm`). Throws where the keys are
 * none of P-256.
 */
export function encryptPush(
  text: string,
  { keys }: PushSubscription,
  { key, salt }: PushEntropy = { key: newPushKey(), salt: randomBytes(16) },
): Buffer {
  const [theirs, auth] = [Buffer.from(keys.p256dh, 'base64url'), Buffer.from(keys.auth, 'base64url')];
  const own = createECDH(curve);
  own.setPrivateKey(key);
  const ours = own.getPublicKey();
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), theirs, ours]);
  const shared = derive(own.computeSecret(theirs), { salt: auth, info, bytes: 32 });
  const cipher = createCipheriv(
    'aes-128-gcm',
    derive(shared, { salt, info: Buffer.from('Content-Encoding: aes128gcm\0'), bytes: 16 }),
    derive(shared, { salt, info: Buffer.from('Content-Encoding: nonce\0'), bytes: 12 }),
  );
  const recordSize = Buffer.alloc(4);
  recordSize.writeUInt32BE(4_096);
  // 2: the last record
  const sealed = [cipher.update(text), cipher.update(Buffer.from([2])), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([salt, recordSize, Buffer.from([ours.length]), ours, ...sealed]);
}

/** A private key of P-256. */
export function newPushKey(): Buffer {
  const pair = createECDH(curve);
  pair.generateKeys();
  const key = pair.getPrivateKey();
  return Buffer.concat([Buffer.alloc(32 - key.length), key]);
}

/** What browsers are given of a private key: a point, uncompressed. Throws where it is none of P-256. */
export function publicPushKey(key: Buffer): Buffer {
  const pair = createECDH(curve);
  pair.setPrivateKey(key);
  return pair.getPublicKey();
}

/**
 * The header by which a push service knows who sends: RFC 8292. It is good for that service alone, for twelve hours.
 */
export function vapidHeader(
  key: Buffer,
  { endpoint, contact, now }: { readonly endpoint: string; readonly contact: string; readonly now: number },
): string {
  const point = publicPushKey(key);
  const x = point.subarray(1, 33).toString('base64url');
  const y = point.subarray(33).toString('base64url');
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor(now / 1_000) + 43_200, sub: contact };
  const signed = [{ typ: 'JWT', alg: 'ES256' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const jwk = { kty: 'EC', crv: 'P-256', d: key.toString('base64url'), x, y };
  const signature = sign('sha256', Buffer.from(signed), {
    key: createPrivateKey({ key: jwk, format: 'jwk' }),
    dsaEncoding: 'ieee-p1363',
  });
  return `vapid t=${signed}.${signature.toString('base64url')}, k=${point.toString('base64url')}`;
}

const curve = 'prime256v1';

const derive = (
  secret: Buffer,
  { salt, info, bytes }: { readonly salt: Buffer; readonly info: Buffer; readonly bytes: number },
): Buffer => Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
