import { z } from 'zod';
import { eraseContents } from '../../commands/sessions/erase-contents.js';
import { route, type Route } from '../route.js';
import { instant, iso, text } from '../schemas.js';

const chosen = {
  sessionId: text(200).optional(),
  before: instant.optional().describe('Sessions without activity since.'),
  person: text(200).optional().describe('Sessions of that employee.'),
};

const answer = z
  .object({
    sessions: z.array(z.string()),
    skipped: z
      .array(z.string())
      .describe('Running, or waiting for their provider: stop them, then erase again.'),
    messages: z.int(),
    files: z.int(),
    logEntries: z.int().describe('Log entries that were blanked; 0 where nothing was erased yet.'),
    reportedTo: z
      .array(z.string())
      .describe('Work items and sessions that received reports of this work; those are kept.'),
    heldBy: z
      .array(z.object({ path: z.string(), at: iso, until: iso.nullable() }))
      .describe('Backups and set-aside copies that still hold it, and when each goes by itself.'),
  })
  .meta({ id: 'Erasure' });

/** What sessions hold goes for good; see commands/sessions/erase-contents.ts. */
export const eraseRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/erase',
    'contents.erase',
    {
      about: 'What POST /api/erase would erase, and which copies would keep it. Changes nothing.',
      query: z.object(chosen),
      answer,
      refusals: ['NOT_FOUND'],
    },
    async ({ query, ...request }) => eraseContents({ ...request, dryRun: true }, query),
  ),
  route(
    'POST',
    '/api/erase',
    'contents.erase',
    {
      about:
        'Erase what sessions hold: messages, tool calls, files, conversations that engines keep, and what the log ' +
        'says of them. Takes one of sessionId, before and person. Resumes after a crash.',
      body: z.object(chosen),
      answer,
      refusals: ['NOT_FOUND'],
    },
    async ({ body, ...request }) => eraseContents(request, body),
  ),
];
