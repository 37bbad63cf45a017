import { z } from 'zod';
import {
  costReport,
  groupings,
  searchMessages,
  searchSessions,
} from '../../../commands/sessions/search-sessions.js';
import { listWorkItems } from '../../../commands/work-items/list-work-items.js';
import { type HttpRequest, type Route, route } from '../../route.js';
import type { Reply } from '../../../commands/app.js';
import {
  instant,
  sentence,
  session,
  sessionStatus,
  text,
  wholeNumber,
  workItemRow,
  workItemSource,
  workItemStatus,
} from '../../schemas.js';

/** Finding things. People search everything, agents what is theirs: the same confinement as in the lists. */

const yesNo = z.enum(['true', 'false']).transform((value) => value === 'true');
const limit = wholeNumber(1, 100).optional().describe('Default 20.');
const messagesQuery = z.object({
  query: sentence(1024).describe('Words, all of which must occur.'),
  sessionId: text(200).optional(),
  includeOwnSession: yesNo.optional(),
  employee: text(200).optional(),
  engine: text(200).optional(),
  role: z.enum(['user', 'assistant', 'notification']).optional(),
  since: instant.optional(),
  until: instant.optional(),
  limit,
});
const sessionsQuery = z.object({
  text: sentence(1024).optional(),
  employee: text(200).optional(),
  engine: text(200).optional(),
  status: sessionStatus.optional(),
  source: text(50).optional(),
  parentSessionId: text(200).optional(),
  activeSince: instant.optional(),
  activeBefore: instant.optional(),
  needsAttention: yesNo
    .optional()
    .describe('In error, interrupted, or with a tool request that awaits a decision.'),
  limit,
});
const itemsQuery = z.object({
  text: sentence(1024),
  status: workItemStatus.optional(),
  source: workItemSource.optional(),
  assignee: text(200).optional(),
  department: text(200).optional(),
  limit,
});
const costQuery = z.object({
  groupBy: z.enum(groupings).optional().describe('Default `employee`.'),
  since: instant.optional(),
  until: instant.optional(),
  employee: text(200).optional(),
  limit,
});

const hit = z.looseObject({
  sessionId: z.string(),
  messageId: z.string(),
  role: z.string(),
  snippet: z.string(),
  timestamp: z.int(),
});
const sum = {
  sessions: z.int(),
  turns: z.int(),
  costUsd: z.number(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedTokens: z.int(),
};

export const searchRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/search/messages',
    'search.messages',
    {
      about: 'Messages that contain all words, in the sessions visible to the caller.',
      query: messagesQuery,
      answer: z.object({ messages: z.array(hit), truncated: z.boolean() }),
    },
    async ({
      app,
      query,
      caller: by,
    }: HttpRequest<unknown, z.output<typeof messagesQuery>>): Promise<Reply> => ({
      body: await searchMessages(app, { ...query, limit: query.limit ?? 20 }, by),
    }),
  ),
  route(
    'GET',
    '/api/search/sessions',
    'search.sessions',
    {
      about: 'Search sessions by words, people, engine, status or time, last active first.',
      query: sessionsQuery,
      answer: z.object({ sessions: z.array(session), truncated: z.boolean() }),
    },
    async ({
      app,
      query,
      caller: by,
    }: HttpRequest<unknown, z.output<typeof sessionsQuery>>): Promise<Reply> => ({
      body: await searchSessions(app, { ...query, limit: query.limit ?? 20 }, by),
    }),
  ),
  route(
    'GET',
    '/api/search/work-items',
    'search.work-items',
    {
      about: 'Search work items by words in id, title or body.',
      query: itemsQuery,
      answer: z.looseObject({ workItems: z.array(workItemRow), total: z.int() }),
    },
    async ({
      app,
      query,
      caller: by,
    }: HttpRequest<unknown, z.output<typeof itemsQuery>>): Promise<Reply> => ({
      body: await listWorkItems(app, { ...query, q: query.text, limit: query.limit ?? 20, offset: 0 }, by),
    }),
  ),
  route(
    'GET',
    '/api/cost/report',
    'cost.read',
    {
      about:
        'Cost of the sessions visible to the caller, the most expensive group first. The whole ' +
        'cost of a session counts on the day of its last activity.',
      query: costQuery,
      answer: z.object({
        groupBy: z.string(),
        totals: z.object(sum),
        groups: z.array(z.object({ key: z.string().nullable(), ...sum })),
        truncated: z.boolean(),
      }),
    },
    async ({ app, query, caller: by }: HttpRequest<unknown, z.output<typeof costQuery>>): Promise<Reply> => ({
      body: await costReport(
        app,
        { ...query, groupBy: query.groupBy ?? 'employee', limit: query.limit ?? 20 },
        by,
      ),
    }),
  ),
];
