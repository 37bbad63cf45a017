import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { route, type HttpRequest, type Route } from '../route.js';
import type { Reply } from '../../commands/request.js';

/**
 * The pages: of each a shell and its files, the same for everybody and without any data. What they show they
 * ask for themselves, with the credential of who opened them. Nothing runs or is loaded but what stands beside
 * them.
 */
export const pageRoutes: readonly Route[] = [
  route(
    'GET',
    '/',
    'page.inspect',
    {
      about: 'The console: a page without data.',
      answer: z.string(),
      contentType: 'text/html; charset=utf-8',
      refusals: ['NOT_FOUND'],
    },
    () => shell(consoleFiles, consoleHeaders),
  ),
  route(
    'GET',
    '/push-worker.js',
    'page.inspect',
    {
      about: 'What shows notifications in a paired browser when no page is open: a service worker.',
      answer: z.string(),
      contentType: 'text/javascript; charset=utf-8',
      refusals: ['NOT_FOUND'],
    },
    () => worker(consoleFiles),
  ),
  route(
    'GET',
    '/console/:name',
    'page.inspect',
    {
      about: 'A file of the console, named for its content.',
      answer: z.string(),
      refusals: ['NOT_FOUND'],
    },
    (request: HttpRequest) => file(consoleFiles, request),
  ),
  route(
    'GET',
    '/inspect',
    'page.inspect',
    {
      about: 'The live inspector: a page without data.',
      answer: z.string(),
      contentType: 'text/html; charset=utf-8',
      refusals: ['NOT_FOUND'],
    },
    () => shell(inspectorFiles),
  ),
  route(
    'GET',
    '/inspect/:name',
    'page.inspect',
    {
      about: "A file of the live inspector's page, named for its content.",
      answer: z.string(),
      refusals: ['NOT_FOUND'],
    },
    (request: HttpRequest) => file(inspectorFiles, request),
  ),
];

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
};
/** As the build left them beside each file, the smallest first. */
const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

type Files = () => ReadonlyMap<string, Buffer>;
const inspectorFiles = filesOf(new URL('../../inspector/page/', import.meta.url));
const consoleFiles = filesOf(new URL('../../console/page/', import.meta.url));

function shell(files: Files, page: Readonly<Record<string, string>> = shellHeaders): Reply | Refusal {
  const body = files().get('index.html');
  if (body === undefined) return refuse('NOT_FOUND', {}, 'The page was not built: npm run build.');
  return {
    body,
    headers: { ...page, 'Content-Type': types['.html'] ?? '', 'Cache-Control': 'no-store' },
  };
}

/** Its address names no content: browsers compare it with what they have, and subscriptions outlive versions. */
function worker(files: Files): Reply | Refusal {
  const body = files().get('push-worker.js');
  return body === undefined
    ? refuse('NOT_FOUND', {}, 'The page was not built: npm run build.')
    : {
        body,
        headers: { ...shellHeaders, 'Content-Type': types['.js'] ?? '', 'Cache-Control': 'no-cache' },
      };
}

/** A file whose name holds a hash of its content, compressed where the browser takes that. */
function file(files: Files, request: HttpRequest): Reply | Refusal {
  const name = request.params['name'] ?? '';
  const type = types[extname(name)];
  const body = files().get(name);
  if (body === undefined || type === undefined) return refuse('NOT_FOUND', {}, 'Not found');
  const accepted = acceptedOf(request.header('accept-encoding') ?? '');
  const encoding = encodings.find((one) => accepted.has(one.name) && files().has(name + one.ending));
  return {
    body: (encoding && files().get(name + encoding.ending)) ?? body,
    headers: {
      ...shellHeaders,
      'Content-Type': type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(encoding && { 'Content-Encoding': encoding.name }),
    },
  };
}

/** `gzip, br;q=0` → gzip alone. */
const acceptedOf = (header: string): ReadonlySet<string> =>
  new Set(
    header
      .split(',')
      .filter((one) => !/;\s*q=0(?:\.0*)?\s*$/.test(one))
      .map((one) => one.split(';')[0]?.trim().toLowerCase() ?? ''),
  );

/** All of a page is some hundred kilobytes: read once, so that no name from outside ever meets the disk. */
function filesOf(url: URL): Files {
  const folder = fileURLToPath(url);
  let files: ReadonlyMap<string, Buffer> | undefined;
  return () => {
    if (files !== undefined && files.size > 0) return files;
    files = new Map(
      existsSync(`${folder}index.html`)
        ? readdirSync(folder)
            .filter((name) => types[extname(name.replace(/\.(?:br|gz)$/, ''))] !== undefined)
            .map((name) => [name, readFileSync(`${folder}${name}`)])
        : [],
    );
    return files;
  };
}

const policyOf = (trusted: string): string =>
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src " +
  "'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  `require-trusted-types-for 'script'; trusted-types ${trusted}`;

/** Of pages that load nothing but what stands beside them; pictures that they fetched themselves are blobs. */
export const shellHeaders = {
  'Content-Security-Policy': policyOf("'none'"),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
};

/** The console registers one script besides: the policy of that name makes its address, and no other. */
const consoleHeaders = { ...shellHeaders, 'Content-Security-Policy': policyOf('push-worker') };
