import { optionalPackage } from '../../../actors/optional-package.js';
import { HomeError } from '../home-error.js';
import type { Bucket, Destination } from './place.js';

/** Every request is signed, tried four times where the server is away or overloaded, and ends after two minutes. */
export async function openBucket(bucket: Bucket): Promise<Destination> {
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
    const code = /<Code>(\w+)<\/Code>/.exec(await answer.text())?.[1] ?? '';
    throw unreachable(bucket, `it answered ${answer.status} ${code}`.trim());
  }

  const urlOf = (name: string): string =>
    `${root}/${full(name).split('/').map(encodeURIComponent).join('/')}`;

  /** Every page of a listing. */
  async function* pages(prefix: string): AsyncGenerator<string> {
    for (let token: string | undefined; ;) {
      const query = new URLSearchParams({ 'list-type': '2', prefix, delimiter: '/', 'encoding-type': 'url' });
      if (token !== undefined) query.set('continuation-token', token);
      const answer = await ask('GET', `${root}?${query.toString()}`);
      const page = await answer.text();
      if (answer.status === 404) throw unreachable(bucket, 'it does not exist');
      yield page;
      token = tagged(page, 'NextContinuationToken')[0];
      if (token === undefined) return;
    }
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
      if (answer.status !== 404) return Buffer.from(await answer.arrayBuffer());
      // Of a bucket that is missing nothing is known, which is not the same as that it is empty
      if (/<Code>NoSuchBucket<\/Code>/.test(await answer.text()))
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
