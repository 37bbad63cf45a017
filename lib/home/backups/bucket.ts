import { optionalPackage } from '../../../actors/optional-package.js';
import { HomeError } from '../home-error.js';
import type { Bucket, Destination } from './place.js';

/** Every request is signed, tried four times where the server is away or overloaded, and ends after two minutes. */
export async function openBucket(
  bucket: Bucket,
  { pageBytesMax, objectBytesMax, pagesMax }: BucketLimits = standardLimits,
): Promise<Destination> {
  const { AwsClient } = await optionalPackage('aws4fetch', () => import('aws4fetch'));
  const { accessKeyId, secretAccessKey, sessionToken, region } = bucket;
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    region,
    service: 's3',
    retries: triesMax,
  });
  const root = `${bucket.endpoint.replace(/\/+$/, '')}/${bucket.bucket}`;
  const full = (name: string): string => (bucket.prefix === '' ? name : `${bucket.prefix}/${name}`);

  async function ask(method: string, url: string, body?: Uint8Array): Promise<Response> {
    const answer = await client
      .fetch(url, {
        method,
        ...(body !== undefined && { body: Buffer.from(body) }),
        redirect: 'error', // what is signed for one server is for no other
        signal: AbortSignal.timeout(requestMsMax),
      })
      .catch((cause: unknown) => {
        throw unreachable(bucket, `it cannot be reached (${reasonOf(cause)})`, cause);
      });
    if (answer.ok || answer.status === 404) return answer;
    const code = /<Code>(\w+)<\/Code>/.exec(await textOf(answer))?.[1] ?? '';
    throw unreachable(bucket, `it answered ${answer.status} ${code}`.trim());
  }

  /** The one that answers for the bucket does not decide how much of it is held in memory. */
  async function bytesOf(answer: Response, bytesMax: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    try {
      for await (const piece of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
        if ((length += piece.length) > bytesMax) break; // which ends the answer
        pieces.push(piece);
      }
    } catch (cause) {
      throw unreachable(bucket, `its answer broke off (${reasonOf(cause)})`, cause);
    }
    if (length > bytesMax) throw unreachable(bucket, `it answered more than ${bytesMax} bytes`);
    return Buffer.concat(pieces);
  }
  const textOf = async (answer: Response): Promise<string> =>
    (await bytesOf(answer, pageBytesMax)).toString();

  const urlOf = (name: string): string =>
    `${root}/${full(name).split('/').map(encodeURIComponent).join('/')}`;

  /** Every page of a listing. */
  async function* pages(prefix: string): AsyncGenerator<string> {
    let token: string | undefined;
    for (let count = 0; count < pagesMax; count += 1) {
      const query = new URLSearchParams({ 'list-type': '2', prefix, delimiter: '/', 'encoding-type': 'url' });
      if (token !== undefined) query.set('continuation-token', token);
      const answer = await ask('GET', `${root}?${query.toString()}`);
      const page = await textOf(answer);
      if (answer.status === 404) throw unreachable(bucket, 'it does not exist');
      yield page;
      token = tagged(page, 'NextContinuationToken')[0];
      if (token === undefined) return;
    }
    throw unreachable(bucket, `its listing has more than ${pagesMax} pages`);
  }

  async function below(prefix: string, inner: string, tag: string): Promise<string[]> {
    const names: string[] = [];
    for await (const page of pages(prefix))
      for (const part of inner === '' ? [page] : sections(page, inner))
        names.push(
          ...tagged(part, tag)
            .map(decoded)
            .filter((name) => name.startsWith(prefix)),
        );
    return names.map((name) => name.slice(prefix.length)).filter((name) => name !== '');
  }

  return {
    async put(name, bytes) {
      const answer = await ask('PUT', urlOf(name), bytes);
      if (answer.status === 404) throw unreachable(bucket, 'it does not exist');
    },
    async get(name) {
      const answer = await ask('GET', urlOf(name));
      if (answer.status !== 404) return bytesOf(answer, objectBytesMax);
      // Of a bucket that is missing nothing is known, which is not the same as that it is empty
      if (/<Code>NoSuchBucket<\/Code>/.test(await textOf(answer)))
        throw unreachable(bucket, 'it does not exist');
      return undefined;
    },
    list: (prefix) => below(full(prefix), 'Contents', 'Key'),
    folders: async () =>
      (await below(bucket.prefix === '' ? '' : `${bucket.prefix}/`, 'CommonPrefixes', 'Prefix')).map((name) =>
        name.replace(/\/$/, ''),
      ),
    async remove(name) {
      await ask('DELETE', urlOf(name));
    },
    sweep: () => Promise.resolve(), // an object is there as a whole or not at all
  };
}

const triesMax = 4;
const requestMsMax = 120_000;

/** What is held in memory of its answers; more is refused. */
export interface BucketLimits {
  readonly pageBytesMax: number;
  readonly objectBytesMax: number;
  readonly pagesMax: number;
}

/** Pages are of a thousand names. The largest object is the list of a home with very many files. */
const standardLimits: BucketLimits = {
  pageBytesMax: 16 * 2 ** 20,
  objectBytesMax: 512 * 2 ** 20,
  pagesMax: 1_000,
};

/** What stands between the tags, in order. Listings are flat, and their names are encoded as in addresses. */
const tagged = (text: string, tag: string): string[] =>
  [...text.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  );
const sections = (text: string, tag: string): string[] =>
  text
    .split(`<${tag}>`)
    .slice(1)
    .map((part) => part.split(`</${tag}>`, 1)[0] ?? '');
const decoded = (name: string): string => decodeURIComponent(name.replaceAll('+', ' '));

const unreachable = ({ bucket, endpoint }: Bucket, why: string, cause?: unknown): HomeError =>
  new HomeError(
    'BAD_HOME',
    `Bucket ${bucket} at ${endpoint}: ${why}.`,
    'Check backup.to, backup.endpoint, backup.region and the keys.',
    { cause },
  );

function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  return cause?.code ?? cause?.message ?? message ?? 'unknown';
}
