import { z } from 'zod';
import { costReport, groupings } from '../../../commands/sessions/cost-report.js';
import { searchMessages } from '../../../commands/sessions/search-messages.js';
import { searchSessions } from '../../../commands/sessions/search-sessions.js';
import { listWorkItems } from '../../../commands/work-items/list-work-items.js';
import { place } from '../../parse.js';
import { type HttpRequest, type Route, route } from '../../route.js';
import type { Reply } from '../../../commands/request.js';
import { refuse, type Refusal } from '../../../../machines/refusals.js';
import {
  agreeing,
  instant,
  sentence,
  session,
  sessionStatus,
  text,
  wholeNumber,
  workItemSource,
  workItemStatus,
} from '../../schemas.js';
import { workItemRow } from '../work-items/schemas.js';

/** Finding things. People search everything, agents what is theirs: the same confinement as in the lists. */

const yesNo = z.enum(['true', 'false']).transform((value) => value === 'true');
const paging = {
  limit: wholeNumber(1, 100).default(20),
  offset: wholeNumber(0, 100_000).default(0),
  cursor: place,
};
const excludeSessionId = text(200).optional();
const messagesQuery = agreeing(
  z.object({
    query: sentence(1024).optional().describe('Words, all of which must occur. Required, here or as `q`.'),
    q: sentence(1024).optional().describe('The same as `query`.'),
    sessionId: text(200).optional(),
    excludeSessionId,
    includeOwnSession: yesNo.optional(),
    employee: text(200).optional(),
    engine: text(200).optional(),
    role: z.enum(['user', 'assistant', 'notification']).optional(),
    since: instant.optional(),
    until: instant.optional(),
    ...paging,
  }),
  ['query', 'q'],
);
const sessionsQuery = agreeing(
  z.object({
    text: sentence(1024).optional(),
    q: sentence(1024).optional().describe('The same as `text`.'),
    excludeSessionId,
    employee: text(200).optional(),
    engine: text(200).optional(),
    status: sessionStatus.optional(),
    source: text(50).optional(),
    parentSessionId: text(200).optional(),
    activeSince: instant.optional(),
    activeBefore: instant.optional(),
    since: instant.optional().describe('The same as `activeSince`.'),
    until: instant.optional().describe('The same as `activeBefore`.'),
    needsAttention: yesNo
      .optional()
      .describe('In error, interrupted, or with a tool request that awaits a decision.'),
    ...paging,
  }),
  ['text', 'q'],
  ['activeSince', 'since'],
  ['activeBefore', 'until'],
);
const itemsQuery = agreeing(
  z.object({
    text: sentence(1024).optional().describe('Required, under this name or as `q`.'),
    q: sentence(1024).optional().describe('The same as `text`.'),
    since: instant.optional(),
    until: instant.optional(),
    status: workItemStatus.optional(),
    source: workItemSource.optional(),
    assignee: text(200).optional(),
    department: text(200).optional(),
    ...paging,
  }),
  ['text', 'q'],
);
const costQuery = z.object({
  groupBy: z.enum(groupings).optional().describe('Default `employee`.'),
  since: instant.optional(),
  until: instant.optional(),
  employee: text(200).optional(),
  limit: wholeNumber(1, 100).default(20),
});

const hit = z.looseObject({
  sessionId: z.string(),
  messageId: z.string(),
  role: z.string(),
  snippet: z.string(),
  timestamp: z.int(),
});
const found = {
  truncated: z.boolean(),
  nextOffset: z.int().nullable(),
  nextCursor: z.string().nullable(),
};
const sum = {
  sessions: z.int(),
  turns: z.int(),
  costUsd: z.number(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedTokens: z.int(),
};

const wordsRequired = (path: string): Refusal => refuse('BAD_REQUEST', { path }, `${path} is required`);

export const searchRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/search/messages',
    'search.messages',
    {
      about: 'Messages that contain all words, in the sessions visible to the caller.',
      query: messagesQuery,
      answer: z.object({ messages: z.array(hit), results: z.array(hit), ...found }),
    },
    async ({
      app,
      query,
      caller: by,
    }: HttpRequest<unknown, z.output<typeof messagesQuery>>): Promise<Reply | Refusal> => {
      const words = query.query ?? query.q;
      return words === undefined
        ? wordsRequired('query')
        : { body: await searchMessages(app, { ...query, query: words }, by) };
    },
  ),
  route(
    'GET',
    '/api/search/sessions',
    'search.sessions',
    {
      about: 'Search sessions by words, people, engine, status or time, last active first.',
      query: sessionsQuery,
      answer: z.object({ sessions: z.array(session), results: z.array(session), ...found }),
    },
    async ({
      app,
      query,
      caller: by,
    }: HttpRequest<unknown, z.output<typeof sessionsQuery>>): Promise<Reply> => ({
      body: await searchSessions(
        app,
        {
          ...query,
          text: query.text ?? query.q,
          activeSince: query.activeSince ?? query.since,
          activeBefore: query.activeBefore ?? query.until,
        },
        by,
      ),
    }),
  ),
  route(
    'GET',
    '/api/search/work-items',
    'search.work-items',
    {
      about: 'Search work items by words in id, title or body.',
      query: itemsQuery,
      answer: z.looseObject({
        workItems: z.array(workItemRow),
        results: z.array(workItemRow),
        total: z.int(),
        nextOffset: z.int().nullable(),
        nextCursor: z.string().nullable(),
      }),
    },
    async ({
      app,
      query,
      caller: by,
    }: HttpRequest<unknown, z.output<typeof itemsQuery>>): Promise<Reply | Refusal> => {
      const words = query.text ?? query.q;
      if (words === undefined) return wordsRequired('text');
      const page = await listWorkItems(app, { ...query, q: words }, by);
      return { body: { results: page.workItems, ...page } };
    },
  ),
  route(
    'GET',
    '/api/cost/report',
    'cost.read',
    {
      about:
        'Cost of the sessions visible to the caller, the most expensive group first. The whole ' +
        'cost of a session counts on the day of its last activity, in `portal.timeZone`.',
      query: costQuery,
      answer: z.object({
        groupBy: z.string(),
        timeZone: z.string().describe('In which days begin: `portal.timeZone`.'),
        totals: z.object(sum),
        groups: z.array(
          z.object({
            key: z.string().nullable(),
            title: z.string().nullish().describe('Of a session or work item that can be read.'),
            ...sum,
          }),
        ),
        truncated: z.boolean(),
      }),
    },
    async ({ app, query, caller: by }: HttpRequest<unknown, z.output<typeof costQuery>>): Promise<Reply> => ({
      body: await costReport(app, { ...query, groupBy: query.groupBy ?? 'employee' }, by),
    }),
  ),
];
