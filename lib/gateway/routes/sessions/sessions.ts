import { z } from 'zod';
import { scheduleImport } from '../../../commands/sessions/import-transcript.js';
import { childrenOf, listSessions } from '../../../commands/sessions/list-sessions.js';
import { attachedMedia } from '../../../commands/files.js';
import { openSession } from '../../../commands/sessions/open-session.js';
import { postMessage } from '../../../commands/sessions/post-message.js';
import {
  lastMessages,
  messagesAround,
  messagesBefore,
  messagesMax,
  presentSession,
} from '../../../commands/sessions/read-session.js';
import { stopSession } from '../../../commands/sessions/stop-session.js';
import type { Reply } from '../../../commands/request.js';
import { isRefusal, refuse, type Refusal } from '../../../../machines/refusals.js';
import { permissionModes } from '../../../../machines/session/tool-policy.js';
import { cursor, nextCursor, idOf } from '../../parse.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import {
  agreeing,
  attachments,
  employeeName,
  idempotencyKey,
  message,
  messages,
  sentence,
  session,
  text,
  textMax,
  wholeNumber,
} from '../../schemas.js';

const listQuery = z.object({
  q: sentence(1024)
    .optional()
    .describe('Substring of title, prompt, employee, engine or id; at most 100 answers at a time.'),
  group: text(200).optional().describe('An employee, `__direct__` or `__cron__`.'),
  offset: wholeNumber(0, 1_000_000).optional().describe('With `q` or `group`.'),
  cursor,
  limit: wholeNumber(0, 500)
    .optional()
    .describe(
      'With `q`: default and maximum 100; with `group`: default 50, maximum 500. Alone, `0` ' +
        'lists all, any other number the first so many of each group (default 50).',
    ),
});
const readQuery = z.object({
  messages: z.enum(['0', '1']).optional().describe('`0` omits the messages.'),
  last: wholeNumber(0, messagesMax).optional(),
});
const messagesQuery = z.object({
  before: text(200).optional().describe('A message id.'),
  cursor: text(200).optional().describe('`nextCursor` of the page before: the same as `before`.'),
  limit: wholeNumber(0, messagesMax).optional().describe('Default 100.'),
});
const contextQuery = agreeing(
  z.object({
    messageId: text(200).optional().describe('Required, under this name or as `message`.'),
    message: text(200).optional().describe('The same as `messageId`.'),
    radius: wholeNumber(0, 50).optional().describe('Messages before and after it, each. Default 5.'),
  }),
  ['messageId', 'message'],
);
const stopQuery = z.object({ descendants: z.enum(['true', 'false']).optional() });

const words = { prompt: sentence(textMax).optional(), message: sentence(textMax).optional(), attachments };
const labels = z.array(text(32)).max(16).optional();
const openBody = agreeing(
  z.object({
    ...words,
    employee: employeeName.nullish(),
    engine: text(200).nullish(),
    model: text(200).nullish(),
    effort: text(200).nullish(),
    effortLevel: text(200).nullish().describe('The same as `effort`.'),
    parent: text(200).nullish(),
    parentSessionId: text(200).nullish().describe('The same as `parent`.'),
    cwd: text(4096)
      .nullish()
      .describe(
        'An existing folder inside sessions.roots; with the token of gateway.json any folder outside the home.',
      ),
    title: text(200).nullish(),
    worktree: z
      .boolean()
      .optional()
      .describe("A git worktree of its own, of the repository in `cwd` or in the employee's folder."),
    worker: text(32).nullish().describe('The worker of another machine to run on. People only.'),
    labels: labels.describe('Runs on a worker that has all of these labels. People only.'),
    permissions: z
      .enum(permissionModes)
      .nullish()
      .describe(
        'What its agent may do without a permission request: nothing, change files in its folder ' +
          '(`edits`), all (`full`). ' +
          "Of an agent's session at most what that session may. Default: as its employee's file says.",
      ),
    idempotencyKey,
  }),
  ['prompt', 'message'],
  ['effort', 'effortLevel'],
  ['parent', 'parentSessionId'],
);
const messageBody = agreeing(z.object({ ...words, idempotencyKey }), ['prompt', 'message']);
const stopBody = z.object({ reason: text(1000).optional() });

/** `source` and `status` are ignored: clients send where they think a session comes from. */
const forbidden = ['provenance', 'approval*'];
const sessionList = z.union([
  z.array(session),
  z.object({ sessions: z.array(session), counts: z.record(z.string(), z.int()), perGroup: z.int() }),
  z
    .object({ sessions: z.array(session), nextCursor: z.string().nullable() })
    .describe('With `cursor`; archived ones are left out.'),
]);
const withMessages = session.extend({
  messages: z.array(message).optional(),
  messagesPage: z.object({ hasOlder: z.boolean() }).optional(),
});
const ack = (status: string) => z.object({ status: z.literal(status), sessionId: z.string() });
const target = 'session';
const engineRefusals = [
  'UNKNOWN_EMPLOYEE',
  'UNKNOWN_ENGINE',
  'UNKNOWN_MODEL',
  'UNKNOWN_EFFORT',
  'UNKNOWN_ATTACHMENT',
  'NOT_FOUND',
] as const;

export const sessionRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/sessions',
    'session.list',
    {
      about: 'List sessions: the first of every group, one group, a search, or all.',
      query: listQuery,
      answer: sessionList,
    },
    list,
  ),
  route(
    'POST',
    '/api/sessions',
    'session.open',
    {
      about:
        'Open a session with its first message. If the engine is not installed, the session is in `error`.',
      body: openBody,
      answer: session,
      status: 201,
      forbidden,
      plan: true,
      refusals: engineRefusals,
    },
    open,
  ),
  route(
    'GET',
    '/api/sessions/:id',
    'session.read',
    {
      about: 'A session with its messages.',
      query: readQuery,
      answer: withMessages,
      target,
      refusals: ['NOT_FOUND'],
    },
    read,
  ),
  route(
    'GET',
    '/api/sessions/:id/messages',
    'session.messages',
    {
      about: 'A page of older messages, oldest first.',
      query: messagesQuery,
      answer: messages.extend({ nextCursor }),
      target,
      refusals: ['NOT_FOUND'],
    },
    readMessages,
  ),
  route(
    'POST',
    '/api/sessions/:id/message',
    'session.message',
    {
      about: 'Send the session a message; stored before the response.',
      body: messageBody,
      answer: ack('queued'),
      target,
      plan: true,
      refusals: ['NOT_FOUND', 'CONFLICT', 'UNKNOWN_ATTACHMENT', 'TOO_MANY', 'QUEUE_FULL'],
    },
    post,
  ),
  route(
    'POST',
    '/api/sessions/:id/stop',
    'session.stop',
    {
      about: 'Stop the session; with `?descendants=true` its descendants too.',
      query: stopQuery,
      body: stopBody,
      answer: ack('stopped'),
      target,
      plan: true,
      refusals: ['NOT_FOUND', 'CONFLICT'],
    },
    stop,
  ),
  route(
    'GET',
    '/api/sessions/:id/context',
    'session.context',
    {
      about: 'The messages before and after a message.',
      query: contextQuery,
      answer: z.object({ messages: z.array(message), hasOlder: z.boolean(), hasNewer: z.boolean() }),
      target,
      refusals: ['NOT_FOUND'],
    },
    around,
  ),
  route(
    'GET',
    '/api/sessions/:id/children',
    'session.children',
    {
      about: 'The direct children of a session.',
      answer: z.array(session),
      target,
      refusals: ['NOT_FOUND'],
    },
    children,
  ),
];

async function list({
  app,
  query,
  caller: by,
}: HttpRequest<unknown, z.output<typeof listQuery>>): Promise<Reply> {
  return { body: await listSessions(app, query, by) };
}

async function open(request: HttpRequest<z.output<typeof openBody>>): Promise<Reply | Refusal> {
  const prompt = promptOf(request.body);
  if (isRefusal(prompt)) return prompt;
  const media = await attachedMedia(request, request.body.attachments);
  if (isRefusal(media)) return media;
  const { employee, engine, model, cwd, title, worktree, permissions, worker, labels } = request.body;
  const input = {
    prompt,
    media,
    employee,
    engine,
    model,
    cwd,
    title,
    worktree,
    permissions,
    worker,
    labels,
    effort: request.body.effort ?? request.body.effortLevel,
    parent: request.body.parent ?? request.body.parentSessionId,
  };
  const done = await openSession(request, input);
  return isRefusal(done) ? done : { ...done, body: done.body.view };
}

async function read(request: HttpRequest<unknown, z.output<typeof readQuery>>): Promise<Reply | Refusal> {
  const view = await presentSession(request.app, idOf(request));
  if (isRefusal(view)) return view;
  scheduleImport(request.app, view);
  const found = view.view;
  if (request.query.messages === '0') return { body: found };
  const { last } = request.query;
  const page = await lastMessages(request.app, idOf(request), last || messagesMax);
  const tail = last !== undefined || page.hasOlder; // a whole transcript needs no page mark
  return {
    body: { ...found, messages: page.messages, ...(tail && { messagesPage: { hasOlder: page.hasOlder } }) },
  };
}

async function readMessages(
  request: HttpRequest<unknown, z.output<typeof messagesQuery>>,
): Promise<Reply | Refusal> {
  const found = await sessionOf(request);
  if (isRefusal(found)) return found;
  const { cursor: behind, before = behind || undefined } = request.query;
  const limit = request.query.limit || 100;
  const page =
    before === undefined
      ? await lastMessages(request.app, idOf(request), limit)
      : await messagesBefore(request.app, idOf(request), before, limit);
  return { body: { ...page, nextCursor: page.hasOlder ? (page.messages[0]?.id ?? null) : null } };
}

async function post(request: HttpRequest<z.output<typeof messageBody>>): Promise<Reply | Refusal> {
  const content = promptOf(request.body);
  if (isRefusal(content)) return content;
  const media = await attachedMedia(request, request.body.attachments);
  if (isRefusal(media)) return media;
  const done = await postMessage(request, idOf(request), content, media);
  return isRefusal(done) ? done : { ...done, body: { status: 'queued', sessionId: idOf(request) } };
}

async function stop(
  request: HttpRequest<z.output<typeof stopBody>, z.output<typeof stopQuery>>,
): Promise<Reply | Refusal> {
  const { reason } = request.body;
  const done = await stopSession(request, idOf(request), {
    descendants: request.query.descendants === 'true',
    ...(reason !== undefined && { reason }),
  });
  return isRefusal(done) ? done : { ...done, body: { status: 'stopped', sessionId: idOf(request) } };
}

async function children(request: HttpRequest): Promise<Reply | Refusal> {
  const found = await sessionOf(request);
  return isRefusal(found) ? found : { body: await childrenOf(request.app, idOf(request)) };
}

async function around(
  request: HttpRequest<unknown, z.output<typeof contextQuery>>,
): Promise<Reply | Refusal> {
  const found = await sessionOf(request);
  if (isRefusal(found)) return found;
  const { message: alias, messageId = alias, radius } = request.query;
  if (messageId === undefined) return refuse('BAD_REQUEST', { path: 'messageId' }, 'messageId is required');
  const page = await messagesAround(request.app, idOf(request), messageId, radius ?? 5);
  return page ? { body: page } : refuse('NOT_FOUND', { messageId }, 'The session has no such message.');
}

async function sessionOf(
  request: HttpRequest<unknown, unknown>,
): Promise<Readonly<Record<string, unknown>> | Refusal> {
  const view = await presentSession(request.app, idOf(request));
  return isRefusal(view) ? view : view.view;
}

function promptOf(body: { prompt?: string | undefined; message?: string | undefined }): string | Refusal {
  return (
    body.prompt ?? body.message ?? refuse('BAD_REQUEST', { path: 'prompt' }, 'prompt or message is required')
  );
}
