import { z } from 'zod';
import { readGuide, styleOfPages } from '../../docs/guides.js';
import { pageOfContents, pageOfGuide } from '../../docs/page.js';
import { route, type HttpRequest, type Route } from '../route.js';
import { shellHeaders } from './page.js';
import type { Reply } from '../../commands/request.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * The guides that ship with the package, as pages. Public like the shell of the inspector, for the same reason:
 * they are the same for every caller and hold nothing of this instance. A person who cannot pair a browser yet
 * finds here how to.
 */
export const docsRoutes: readonly Route[] = [
  route(
    'GET',
    '/docs',
    'page.docs',
    {
      about: 'The table of contents of the guides.',
      answer: z.string(),
      contentType: 'text/html; charset=utf-8',
    },
    () => html(pageOfContents()),
  ),
  route(
    'GET',
    '/docs/:name',
    'page.docs',
    {
      about: 'A guide by its topic: `/docs/effects`. `style.css` is the stylesheet.',
      answer: z.string(),
      contentType: 'text/html; charset=utf-8',
      refusals: ['NOT_FOUND'],
    },
    readDocs,
  ),
];

const pages = new Map<string, Promise<string>>();

async function readDocs({ params }: HttpRequest): Promise<Reply | Refusal> {
  const name = params['name'] ?? '';
  if (name === 'style.css')
    return { body: styleOfPages(), headers: { ...headers, 'Content-Type': 'text/css; charset=utf-8' } };
  const guide = readGuide(name);
  if (guide === undefined)
    return refuse('NOT_FOUND', {}, `Unknown guide "${name}". GET /docs lists the guides.`);
  const page = pages.get(name) ?? pageOfGuide(guide);
  pages.set(name, page);
  page.catch(() => pages.delete(name)); // a failure is not kept
  return html(await page);
}

const headers = { ...shellHeaders, 'Cache-Control': 'no-cache' };
const html = (body: string): Reply => ({ body, headers });
