import { z } from 'zod';
import { scheduleBackfill } from '../../commands/backfill.js';
import { childrenOf, listSessions } from '../../commands/list-sessions.js';
import { attachedMedia } from '../../commands/attachments.js';
import { openSession } from '../../commands/open-session.js';
import { postMessage } from '../../commands/post-message.js';
import { lastMessages, messagesAround, messagesBefore, messagesMax } from '../../commands/read-session.js';
import { presentSession } from '../../commands/present-session.js';
import { stopSession } from '../../commands/stop-session.js';
import { recordOf } from '../../commands/desk.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { idOf, route, type Call, type Reply, type Route } from '../route.js';
import { agreeing, attachments, employeeName, idempotencyKey, message, messages, sentence, session, text, textMax, wholeNumber } from '../shapes.js';

const listQuery = z.object({
  q: sentence(1024).optional().describe('Substring of title, prompt, employee, engine or id; at most 100 answers at a time.'),
  group: text(200).optional().describe('An employee, `__direct__` or `__cron__`.'),
  offset: wholeNumber(0, 1_000_000).optional().describe('With `q` or `group`.'),
  limit: wholeNumber(0, 500).optional().describe('With `q` default and most 100, with `group` default 50 and most 500; alone, `0` lists all and any other number is ignored.'),
});
const readQuery = z.object({
  messages: z.enum(['0', '1']).optional().describe('`0` leaves the messages out.'),
  last: wholeNumber(0, messagesMax).optional(),
});
const messagesQuery = z.object({ before: text(200).optional().describe('A message id.'), limit: wholeNumber(0, messagesMax).optional().describe('Default 100.') });
const contextQuery = z.object({ messageId: text(200), radius: wholeNumber(0, 50).optional().describe('Messages on either side. Default 5.') });
const stopQuery = z.object({ descendants: z.enum(['true', 'false']).optional() });

const words = { prompt: sentence(textMax).optional(), message: sentence(textMax).optional(), attachments };
const openBody = agreeing(z.object({
  ...words,
  employee: employeeName.nullish(),
  engine: text(200).nullish(),
  model: text(200).nullish(),
  effort: text(200).nullish(),
  effortLevel: text(200).nullish().describe('The same as `effort`.'),
  parent: text(200).nullish(),
  parentSessionId: text(200).nullish().describe('The same as `parent`.'),
  cwd: text(4096).nullish().describe('An existing folder inside sessions.roots.'),
  title: text(200).nullish(),
  worktree: z.boolean().optional().describe('A git worktree of its own, of the repository in `cwd` or in the employee\'s folder.'),
  idempotencyKey,
}), ['prompt', 'message'], ['effort', 'effortLevel'], ['parent', 'parentSessionId']);
const messageBody = agreeing(z.object({ ...words, idempotencyKey }), ['prompt', 'message']);
const stopBody = z.object({ reason: text(1000).optional() });

const forbidden = ['provenance', 'approval*', 'source', 'status'];
const sessionList = z.union([z.array(session), z.object({ sessions: z.array(session), counts: z.record(z.string(), z.int()), perGroup: z.int() })]);
const withMessages = session.extend({ messages: z.array(message).optional(), messagesPage: z.object({ hasOlder: z.boolean() }).optional() });
const ack = (status: string) => z.object({ status: z.literal(status), sessionId: z.string() });
const target = 'session';
const engineRefusals = ['UNKNOWN_EMPLOYEE', 'UNKNOWN_ENGINE', 'UNKNOWN_MODEL', 'UNKNOWN_EFFORT', 'UNKNOWN_ATTACHMENT', 'NOT_FOUND'] as const;

export const sessionRoutes: readonly Route[] = [
  route('GET', '/api/sessions', 'session.list', { about: 'Sessions: the first of every group, one group, a search, or all.', query: listQuery, answer: sessionList }, list),
  route('POST', '/api/sessions', 'session.open', { about: 'Open a session with its first message. An engine that is not installed gives a session in `error`.', body: openBody, answer: session, status: 201, forbidden, plan: true, refusals: engineRefusals }, open),
  route('GET', '/api/sessions/:id', 'session.read', { about: 'A session with its messages.', query: readQuery, answer: withMessages, target, refusals: ['NOT_FOUND'] }, read),
  route('GET', '/api/sessions/:id/messages', 'session.messages', { about: 'A page of older messages, oldest first.', query: messagesQuery, answer: messages, target, refusals: ['NOT_FOUND'] }, readMessages),
  route('POST', '/api/sessions/:id/message', 'session.message', { about: 'Hand the session a message; durable before the answer.', body: messageBody, answer: ack('queued'), target, plan: true, refusals: ['NOT_FOUND', 'CONFLICT', 'UNKNOWN_ATTACHMENT', 'TOO_MANY', 'QUEUE_FULL'] }, post),
  route('POST', '/api/sessions/:id/stop', 'session.stop', { about: 'Stop the session, with `?descendants=true` the tree beneath it.', query: stopQuery, body: stopBody, answer: ack('stopped'), target, plan: true, refusals: ['NOT_FOUND', 'CONFLICT'] }, stop),
  route('GET', '/api/sessions/:id/context', 'session.context', { about: 'The messages around one message.', query: contextQuery, answer: z.object({ messages: z.array(message), hasOlder: z.boolean(), hasNewer: z.boolean() }), target, refusals: ['NOT_FOUND'] }, around),
  route('GET', '/api/sessions/:id/children', 'session.children', { about: 'The sessions directly beneath this one.', answer: z.array(session), target, refusals: ['NOT_FOUND'] }, children),
];

async function list({ desk, query, by }: Call<unknown, z.output<typeof listQuery>>): Promise<Reply> {
  return { body: await listSessions(desk, query, by) };
}

async function open({ desk, body, asking }: Call<z.output<typeof openBody>>): Promise<Reply | Refusal> {
  const prompt = promptOf(body);
  if (isRefusal(prompt)) return prompt;
  const media = await attachedMedia(desk, body.attachments);
  if (isRefusal(media)) return media;
  const { employee, engine, model, cwd, title, worktree } = body;
  const wish = { prompt, media, employee, engine, model, cwd, title, worktree, effort: body.effort ?? body.effortLevel, parent: body.parent ?? body.parentSessionId };
  const done = await openSession(desk, wish, asking);
  return isRefusal(done) ? done : { ...done, body: done.value.view };
}

async function read(call: Call<unknown, z.output<typeof readQuery>>): Promise<Reply | Refusal> {
  const view = await presentSession(call.desk, idOf(call));
  if (isRefusal(view)) return view;
  scheduleBackfill(call.desk, view);
  const found = recordOf(view);
  if (call.query.messages === '0') return { body: found };
  const { last } = call.query;
  const page = await lastMessages(call.desk, idOf(call), last || messagesMax);
  const tail = last !== undefined || page.hasOlder; // a whole transcript needs no page mark
  return { body: { ...found, messages: page.messages, ...(tail && { messagesPage: { hasOlder: page.hasOlder } }) } };
}

async function readMessages(call: Call<unknown, z.output<typeof messagesQuery>>): Promise<Reply | Refusal> {
  const found = await sessionOf(call);
  if (isRefusal(found)) return found;
  const { before } = call.query;
  const limit = call.query.limit || 100;
  return { body: before === undefined ? await lastMessages(call.desk, idOf(call), limit) : await messagesBefore(call.desk, idOf(call), before, limit) };
}

async function post(call: Call<z.output<typeof messageBody>>): Promise<Reply | Refusal> {
  const content = promptOf(call.body);
  if (isRefusal(content)) return content;
  const media = await attachedMedia(call.desk, call.body.attachments);
  if (isRefusal(media)) return media;
  const done = await postMessage(call.desk, idOf(call), content, call.asking, media);
  return isRefusal(done) ? done : { ...done, body: { status: 'queued', sessionId: idOf(call) } };
}

async function stop(call: Call<z.output<typeof stopBody>, z.output<typeof stopQuery>>): Promise<Reply | Refusal> {
  const { reason } = call.body;
  const done = await stopSession(call.desk, idOf(call), { descendants: call.query.descendants === 'true', ...(reason !== undefined && { reason }) }, call.asking);
  return isRefusal(done) ? done : { ...done, body: { status: 'stopped', sessionId: idOf(call) } };
}

async function children(call: Call): Promise<Reply | Refusal> {
  const found = await sessionOf(call);
  return isRefusal(found) ? found : { body: await childrenOf(call.desk, idOf(call)) };
}

async function around(call: Call<unknown, z.output<typeof contextQuery>>): Promise<Reply | Refusal> {
  const found = await sessionOf(call);
  if (isRefusal(found)) return found;
  const { messageId, radius } = call.query;
  const page = await messagesAround(call.desk, idOf(call), messageId, radius ?? 5);
  return page ? { body: page } : refuse('NOT_FOUND', { messageId }, 'There is no such message in this session.');
}

async function sessionOf(call: Call<unknown, unknown>): Promise<Readonly<Record<string, unknown>> | Refusal> {
  const view = await presentSession(call.desk, idOf(call));
  return isRefusal(view) ? view : recordOf(view);
}

function promptOf(body: { prompt?: string | undefined; message?: string | undefined }): string | Refusal {
  return body.prompt ?? body.message ?? refuse('BAD_REQUEST', { path: 'prompt' }, 'prompt or message is required');
}
