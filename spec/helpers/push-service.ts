import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { selfSigned } from '../fixtures/certificate.js';

/** What arrived at a push service: the headers, who signed, and what only the browser can read. */
export interface Arrived {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  /** Claims of the token, once its signature fits the key that came with it. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** By what key, base64url. */
  readonly key: string;
}

/**
 * A push service on loopback that stands for one of the internet: names resolve to a public address, and each dial to it
 * ends here. Its answers are `status`, and without an end
 * where that is asked for; what it takes it does not decrypt, as none can.
 */
export async function pushService() {
  const { cert, key } = selfSigned();
  const arrived: Arrived[] = [];
  const waiting = new Set<() => void>();
  const service = { status: 201, redirectTo: undefined as string | undefined, neverEnds: false };
  const server = createServer({ cert, key }, (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { claims, key: sender } = judged(request.headers.authorization ?? '');
      const { headers, url: path = '' } = request;
      arrived.push({ path, headers, body: Buffer.concat(pieces), claims, key: sender });
      const { redirectTo: location, neverEnds } = service;
      response.writeHead(service.status, location === undefined ? {} : { location });
      if (neverEnds) response.write('one moment');
      else response.end();
      for (const resolve of waiting) resolve();
      waiting.clear();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    service,
    arrived,
    /** Resolves once so many have come. */
    async until(count: number): Promise<Arrived> {
      while (arrived.length < count) await new Promise<void>((resolve) => waiting.add(resolve));
      return arrived[count - 1] as Arrived;
    },
    fetch: {
      ca: cert,
      resolve: async () => ['93.184.216.34'],
      dial: (): Socket => connect(port, '127.0.0.1'),
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A browser's side: its subscription at `https://localhost/…`, and what it reads. */
export function pushBrowser(path: string) {
  const own = createECDH('prime256v1');
  const point = own.generateKeys();
  const auth = randomBytes(16);
  return {
    subscription: {
      endpoint: `https://localhost/${path}`,
      keys: { p256dh: point.toString('base64url'), auth: auth.toString('base64url') },
    },
    /** RFC 8291, 3.4, from the receiver's side; throws where a byte was changed. */
    read(body: Buffer): unknown {
      return JSON.parse(decryptPush(body, { privateKey: own.getPrivateKey(), auth }));
    },
  };
}

/** Of one record of `aes128gcm`. */
export function decryptPush(
  body: Buffer,
  { privateKey, auth }: { readonly privateKey: Buffer; readonly auth: Buffer },
): string {
  const own = createECDH('prime256v1');
  own.setPrivateKey(privateKey);
  const salt = body.subarray(0, 16);
  const theirs = body.subarray(21, 21 + (body[20] ?? 0));
  const sealed = body.subarray(21 + theirs.length);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), own.getPublicKey(), theirs]);
  const shared = Buffer.from(hkdfSync('sha256', own.computeSecret(theirs), auth, info, 32));
  const of = (label: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', shared, salt, `Content-Encoding: ${label}\0`, bytes));
  const decipher = createDecipheriv('aes-128-gcm', of('aes128gcm', 16), of('nonce', 12));
  decipher.setAuthTag(sealed.subarray(-16));
  const text = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  return text.subarray(0, text.lastIndexOf(2)).toString('utf8');
}

/** Throws where the token is not signed by the key that came with it. */
function judged(header: string): Pick<Arrived, 'claims' | 'key'> {
  const [, head = '', claims = '', signature = '', key = ''] =
    /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(header) ?? [];
  const point = Buffer.from(key, 'base64url');
  const x = point.subarray(1, 33).toString('base64url');
  const y = point.subarray(33).toString('base64url');
  const good = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    {
      key: createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' }),
      dsaEncoding: 'ieee-p1363',
    },
    Buffer.from(signature, 'base64url'),
  );
  if (!good) throw new Error(`not signed: ${header}`);
  return {
    key,
    claims: JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as Record<string, unknown>,
  };
}
