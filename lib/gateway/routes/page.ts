import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { route, type HttpRequest, type Route } from '../route.js';
import type { Reply } from '../../commands/app.js';

/**
 * The live inspector's page: a shell and its files, the same for everybody and without any data. What it
 * shows it asks for itself, with the credential of who opened it. Nothing runs or is loaded but what stands
 * beside it.
 */
export const pageRoutes: readonly Route[] = [
  route(
    'GET',
    '/',
    'page.inspect',
    {
      about: 'Redirects to the live inspector.',
      answer: z.string(),
      status: 302,
      contentType: 'text/html; charset=utf-8',
    },
    () => ({ body: '', headers: { Location: '/inspect' } }),
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
    () => file('index.html', 'no-store'),
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
    (request: HttpRequest) => file(request.params['name'] ?? '', 'public, max-age=31536000, immutable'),
  ),
];

const folder = fileURLToPath(new URL('../../inspector/page/', import.meta.url));
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};
let files: ReadonlyMap<string, Buffer> | undefined;

function file(name: string, cache: string): Reply | Refusal {
  if (files === undefined || files.size === 0) files = load();
  const body = files.get(name);
  if (body === undefined)
    return refuse('NOT_FOUND', {}, files.size === 0 ? 'The page was not built: npm run build.' : 'Not found');
  return {
    body,
    headers: {
      ...shellHeaders,
      'Content-Type': types[extname(name)] ?? 'application/octet-stream',
      'Cache-Control': cache,
    },
  };
}

/** All of it is some hundred kilobytes: read once, so that no name from outside ever meets the disk. */
function load(): ReadonlyMap<string, Buffer> {
  if (!existsSync(`${folder}index.html`)) return new Map();
  return new Map(
    readdirSync(folder)
      .filter((name) => types[extname(name)] !== undefined)
      .map((name) => [name, readFileSync(`${folder}${name}`)]),
  );
}

/** Of pages that load nothing but what stands beside them. */
export const shellHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src " +
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
};
