import { z } from 'zod';
import { costReport, groupings } from '../../commands/cost-report.js';
import { listWorkItems } from '../../commands/list-work-items.js';
import { searchMessages, searchSessions } from '../../commands/search-sessions.js';
import type { Call, Reply, Route } from '../route.js';
import { route } from '../route.js';
import { instant, sentence, session, sessionStatus, text, wholeNumber, workItemRow, workItemSource, workItemStatus } from '../shapes.js';

/** Finding things. People search everything, agents what is theirs: the same confinement as in the lists. */

const yesNo = z.enum(['true', 'false']).transform((value) => value === 'true');
const limit = wholeNumber(1, 100).optional().describe('Default 20.');
const messagesQuery = z.object({
  query: sentence(1024).describe('Words that must all occur.'), sessionId: text(200).optional(), includeOwnSession: yesNo.optional(),
  employee: text(200).optional(), engine: text(200).optional(), role: z.enum(['user', 'assistant', 'notification']).optional(), since: instant.optional(), until: instant.optional(), limit,
});
const sessionsQuery = z.object({
  text: sentence(1024).optional(), employee: text(200).optional(), engine: text(200).optional(), status: sessionStatus.optional(), source: text(50).optional(),
  parentSessionId: text(200).optional(), activeSince: instant.optional(), activeBefore: instant.optional(),
  needsAttention: yesNo.optional().describe('In error, interrupted, or with a tool that waits for a person.'), limit,
});
const itemsQuery = z.object({ text: sentence(1024), status: workItemStatus.optional(), source: workItemSource.optional(), assignee: text(200).optional(), department: text(200).optional(), limit });
const costQuery = z.object({ groupBy: z.enum(groupings).optional().describe('Default `employee`.'), since: instant.optional(), until: instant.optional(), employee: text(200).optional(), limit });

const hit = z.looseObject({ sessionId: z.string(), messageId: z.string(), role: z.string(), snippet: z.string(), timestamp: z.int() });
const sum = { sessions: z.int(), turns: z.int(), costUsd: z.number(), inputTokens: z.int(), outputTokens: z.int(), cachedTokens: z.int() };

export const searchRoutes: readonly Route[] = [
  route('GET', '/api/search/messages', 'search.messages', { about: 'Messages that hold all words, in the sessions in sight.', query: messagesQuery, answer: z.object({ messages: z.array(hit), truncated: z.boolean() }) },
    async ({ desk, query, by }: Call<unknown, z.output<typeof messagesQuery>>): Promise<Reply> => ({ body: await searchMessages(desk, { ...query, limit: query.limit ?? 20 }, by) })),
  route('GET', '/api/search/sessions', 'search.sessions', { about: 'Sessions by words, people, engine, status or time, last active first.', query: sessionsQuery, answer: z.object({ sessions: z.array(session), truncated: z.boolean() }) },
    async ({ desk, query, by }: Call<unknown, z.output<typeof sessionsQuery>>): Promise<Reply> => ({ body: await searchSessions(desk, { ...query, limit: query.limit ?? 20 }, by) })),
  route('GET', '/api/search/work-items', 'search.work-items', { about: 'Work items by words in id, title or body.', query: itemsQuery, answer: z.looseObject({ workItems: z.array(workItemRow), total: z.int() }) },
    async ({ desk, query, by }: Call<unknown, z.output<typeof itemsQuery>>): Promise<Reply> => ({ body: await listWorkItems(desk, { ...query, q: query.text, limit: query.limit ?? 20, offset: 0 }, by) })),
  route('GET', '/api/cost/report', 'cost.read', { about: 'What the sessions in sight have cost, dearest group first. A session counts whole, on the day of its last activity.', query: costQuery, answer: z.object({ groupBy: z.string(), totals: z.object(sum), groups: z.array(z.object({ key: z.string().nullable(), ...sum })), truncated: z.boolean() }) },
    async ({ desk, query, by }: Call<unknown, z.output<typeof costQuery>>): Promise<Reply> => ({ body: await costReport(desk, { ...query, groupBy: query.groupBy ?? 'employee', limit: query.limit ?? 20 }, by) })),
];
