import { z } from 'zod';
import type { Records } from '../../records/records.js';
import { isRefusal } from '../../../machines/refusals.js';
import { route, type Route } from '../route.js';

const searchQuery = z.object({ q: z.string().describe('Words or fragments of words, all of which a document must hold; at most 1024 characters.') });
const readQuery = z.object({ path: z.string().min(1).max(1_024).describe('As returned by the search.') });
const answer = z.object({
  query: z.string(),
  results: z.array(z.object({ path: z.string(), title: z.string(), snippet: z.string().describe('Matches between « and ».'), matchCount: z.int() })).max(20),
  complete: z.boolean().describe('False while the index is being built after a start.'),
});
const text = z.object({ path: z.string(), title: z.string(), content: z.string(), truncated: z.boolean(), totalChars: z.int() });

/** Knowledge: everybody who has a credential searches and reads it. */
export function knowledgeRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  const { knowledge } = records;
  return [
    route('GET', '/api/knowledge/search', 'knowledge.search', { about: 'Find documents below knowledge/ and docs/ by their words. Deterministic, not semantic.', query: searchQuery, answer, refusals: ['BUSY'] }, async ({ query }) => {
      const found = await knowledge.search(query.q);
      return isRefusal(found) ? found : { body: found };
    }),
    route('GET', '/api/knowledge/read', 'knowledge.read', { about: 'One document, at most 20,000 characters of it.', query: readQuery, answer: text, refusals: ['NOT_FOUND', 'FORBIDDEN'] }, async ({ query }) => {
      const found = await knowledge.read(query.path);
      return isRefusal(found) ? found : { body: found };
    }),
  ];
}
