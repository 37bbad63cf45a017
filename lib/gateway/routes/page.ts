import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { route, type HttpRequest, type Route } from '../route.js';
import type { Reply } from '../../commands/app.js';

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
    () => file(consoleFiles, 'index.html', 'no-store'),
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
    (request: HttpRequest) => file(consoleFiles, request.params['name'] ?? '', forever),
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
    () => file(inspectorFiles, 'index.html', 'no-store'),
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
    (request: HttpRequest) => file(inspectorFiles, request.params['name'] ?? '', forever),
  ),
];

const forever = 'public, max-age=31536000, immutable';
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

type Files = () => ReadonlyMap<string, Buffer>;
const inspectorFiles = filesOf(new URL('../../inspector/page/', import.meta.url));
const consoleFiles = filesOf(new URL('../../console/page/', import.meta.url));

function file(files: Files, name: string, cache: string): Reply | Refusal {
  const body = files().get(name);
  if (body === undefined)
    return refuse(
      'NOT_FOUND',
      {},
      files().size === 0 ? 'The page was not built: npm run build.' : 'Not found',
    );
  return {
    body,
    headers: {
      ...shellHeaders,
      'Content-Type': types[extname(name)] ?? 'application/octet-stream',
      'Cache-Control': cache,
    },
  };
}

/** All of a page is some hundred kilobytes: read once, so that no name from outside ever meets the disk. */
function filesOf(url: URL): Files {
  const folder = fileURLToPath(url);
  let files: ReadonlyMap<string, Buffer> | undefined;
  return () => {
    if (files !== undefined && files.size > 0) return files;
    files = new Map(
      existsSync(`${folder}index.html`)
        ? readdirSync(folder)
            .filter((name) => types[extname(name)] !== undefined)
            .map((name) => [name, readFileSync(`${folder}${name}`)])
        : [],
    );
    return files;
  };
}

/** Of pages that load nothing but what stands beside them; pictures that they fetched themselves are blobs. */
export const shellHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src " +
    "'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
};
