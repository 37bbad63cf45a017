import { z } from 'zod';
import type { Records } from '../../records/records.js';
import { skillBytesMax } from '../../records/skills/skill-text.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { cursor, nextCursor } from '../parse.js';
import { iso, wholeNumber } from '../schemas.js';
import { listKnowledge } from '../../commands/knowledge.js';
import { route, type HttpRequest, type Route } from '../route.js';
import type { Reply } from '../../commands/request.js';

const row = z.object({ name: z.string(), description: z.string().optional() });
const skill = z
  .object({ name: z.string(), content: z.string().describe('The whole SKILL.md.') })
  .meta({ id: 'Skill' });
const putBody = z.object({ content: z.string({ error: 'must be a string' }) });
/** A text of that size in JSON, where every character may be an escape. */
const bodyBytesMax = 6 * skillBytesMax + 1_000;

/** Skills: everybody reads them, people replace and remove them. */
export function skillRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  const { skills } = records;
  return [
    route(
      'GET',
      '/api/skills',
      'skill.list',
      { about: 'The skills and their purpose.', answer: z.array(row) },
      async () => ({ body: await skills.list() }),
    ),
    route(
      'GET',
      '/api/skills/:name',
      'skill.read',
      { about: "A skill's text.", answer: skill, refusals: ['NOT_FOUND'] },
      async (request) => {
        const found = await skills.read(nameOf(request));
        return isRefusal(found) ? found : { body: found };
      },
    ),
    route(
      'PUT',
      '/api/skills/:name',
      'skill.edit',
      {
        about:
          'Replace the text of an existing skill. At most 2 MiB, with frontmatter that gives its name and description.',
        body: putBody,
        bodyBytesMax,
        answer: skill.extend({ status: z.literal('updated') }),
        refusals: ['NOT_FOUND', 'CONFLICT'],
      },
      async (request): Promise<Reply | Refusal> => {
        const done = await skills.replace(nameOf(request), request.body.content);
        return isRefusal(done) ? done : { body: { status: 'updated', ...done } };
      },
    ),
    route(
      'DELETE',
      '/api/skills/:name',
      'skill.edit',
      {
        about: 'Remove a skill, its folder and its line in skills.json.',
        answer: z.object({ status: z.literal('removed'), name: z.string() }),
        refusals: ['NOT_FOUND'],
      },
      async (request): Promise<Reply | Refusal> => {
        const done = await skills.remove(nameOf(request));
        return isRefusal(done) ? done : { body: { status: 'removed', name: nameOf(request) } };
      },
    ),
  ];
}

const nameOf = (request: HttpRequest<unknown, unknown>): string => request.params['name'] ?? '';

const searchQuery = z.object({
  q: z
    .string()
    .describe('Words or parts of words, all of which a document must contain; at most 1024 characters.'),
});
const readQuery = z.object({ path: z.string().min(1).max(1_024).describe('As returned by the search.') });
const listQuery = z.object({ limit: wholeNumber(1, 100).optional().describe('Default 50.'), cursor });
const page = z.object({
  documents: z.array(
    z.object({
      path: z.string(),
      title: z.string(),
      bytes: z.int(),
      changedAt: iso,
      changedBy: z
        .string()
        .nullable()
        .describe('`operator` or `device:<id>`; null where it was changed in the folder of the home.'),
    }),
  ),
  nextCursor,
  complete: z.boolean().describe('False while the index is being built after a start.'),
});
const answer = z.object({
  query: z.string(),
  results: z
    .array(
      z.object({
        path: z.string(),
        title: z.string(),
        snippet: z.string().describe('Matches between « and ».'),
        matchCount: z.int(),
      }),
    )
    .max(20),
  complete: z.boolean().describe('False while the index is being built after a start.'),
});
const text = z.object({
  path: z.string(),
  title: z.string(),
  content: z.string(),
  truncated: z.boolean(),
  totalChars: z.int(),
});

/** Knowledge: everybody who has a credential searches and reads it. */
export function knowledgeRoutes(records: Records | undefined): readonly Route[] {
  if (records === undefined) return [];
  const { knowledge } = records;
  return [
    route(
      'GET',
      '/api/knowledge',
      'knowledge.search',
      {
        about: 'The documents in knowledge/ and docs/, last changed first.',
        query: listQuery,
        answer: page,
        refusals: ['BUSY'],
      },
      async (request): Promise<Reply | Refusal> => {
        const { limit = 50, cursor: from } = request.query;
        const found = await listKnowledge(request, records, { limit, after: from?.place });
        return isRefusal(found) ? found : { body: found };
      },
    ),
    route(
      'GET',
      '/api/knowledge/search',
      'knowledge.search',
      {
        about: 'Full-text search in knowledge/ and docs/. Deterministic, not semantic.',
        query: searchQuery,
        answer,
        refusals: ['BUSY'],
      },
      async ({ query }) => {
        const found = await knowledge.search(query.q);
        return isRefusal(found) ? found : { body: found };
      },
    ),
    route(
      'GET',
      '/api/knowledge/read',
      'knowledge.read',
      {
        about: 'One document, at most 20,000 characters of it.',
        query: readQuery,
        answer: text,
        refusals: ['NOT_FOUND', 'FORBIDDEN'],
      },
      async ({ query }) => {
        const found = await knowledge.read(query.path);
        return isRefusal(found) ? found : { body: found };
      },
    ),
  ];
}
