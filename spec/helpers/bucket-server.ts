import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/**
 * A server that speaks as much S3 as backups need, and checks every signature by the published algorithm (AWS Signature
 * Version 4), not by the client's own code. Objects are in memory.
 */
export class BucketServer {
  readonly objects = new Map<string, Buffer>();
  /** Called with each request before it is answered, which waits for what it answers. */
  onRequest: (request: string, connection: Readable) => unknown = () => undefined;
  /** Answer the next requests with this status. */
  fail: { status: number; times: number } = { status: 503, times: 0 };
  static readonly keys = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  };

  private constructor(
    private readonly server: Server,
    private readonly bucket: string,
  ) {}

  static async start(bucket = 'backups'): Promise<BucketServer> {
    const server = createServer();
    const made = new BucketServer(server, bucket);
    server.on('request', (request, response) => void made.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const url = new URL(request.url ?? '/', this.url);
    const reply = (status: number, text: string | Buffer = ''): void =>
      void response.writeHead(status).end(text);
    const refuse = (status: number, code: string): void =>
      reply(status, `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
    if (this.fail.times > 0) {
      this.fail.times -= 1;
      return refuse(this.fail.status, 'SlowDown');
    }
    if (!isSigned(request, url, body)) return refuse(403, 'SignatureDoesNotMatch');
    const [, bucket, ...rest] = url.pathname.split('/').map(decodeURIComponent);
    if (bucket !== this.bucket) return refuse(404, 'NoSuchBucket');
    const name = rest.join('/');
    await this.onRequest(`${request.method} ${name}`, request.socket);
    if (request.method === 'PUT') {
      this.objects.set(name, body);
      return reply(200);
    }
    if (request.method === 'DELETE') {
      this.objects.delete(name);
      return reply(204);
    }
    if (name === '') return reply(200, this.listing(url.searchParams));
    const object = this.objects.get(name);
    return object === undefined ? refuse(404, 'NoSuchKey') : reply(200, object);
  }

  /** Two at a time, so that every client must turn pages. */
  private listing(query: URLSearchParams): string {
    const prefix = query.get('prefix') ?? '';
    const found = new Set<string>();
    for (const name of this.objects.keys()) {
      if (!name.startsWith(prefix)) continue;
      const slash = name.indexOf('/', prefix.length);
      found.add(slash < 0 ? name : name.slice(0, slash + 1));
    }
    const names = [...found].sort();
    const from = Number(query.get('continuation-token') ?? 0);
    const page = names.slice(from, from + 2).map((name) => {
      const encoded = encodeURIComponent(name).replaceAll('%2F', '/');
      return name.endsWith('/')
        ? `<CommonPrefixes><Prefix>${encoded}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${encoded}</Key><Size>1</Size></Contents>`;
    });
    const more = from + 2 < names.length;
    return (
      `<?xml version="1.0"?><ListBucketResult><Prefix>${prefix}</Prefix><IsTruncated>${more}</IsTruncated>` +
      `${more ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : ''}${page.join('')}</ListBucketResult>`
    );
  }
}

const hash = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

function isSigned(request: IncomingMessage, url: URL, body: Buffer): boolean {
  const { headers } = request;
  const [, id, date = '', region = '', signed = '', signature] =
    /Credential=([^/]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (id !== BucketServer.keys.accessKeyId) return false;
  const stated = String(headers['x-amz-content-sha256']);
  if (stated !== 'UNSIGNED-PAYLOAD' && stated !== hash(body)) return false;
  const strict = (text: string): string =>
    encodeURIComponent(text).replace(
      /[!'()*]/g,
      (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  const query = [...url.searchParams]
    .map(([name, value]) => `${strict(name)}=${strict(value)}`)
    .sort()
    .join('&');
  const canonical = [
    request.method,
    url.pathname.split('/').map(decodeURIComponent).map(strict).join('/'),
    query,
    ...signed.split(';').map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signed,
    stated,
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${String(headers['x-amz-date'])}\n${scope}\n${hash(canonical)}`;
  const { secretAccessKey } = BucketServer.keys;
  const key = [date, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  return signature === hmac(key, text).toString('hex');
}
